//! A node of a quorum. The model of its scripts does not cover damage, so the tables list what is refused.

use std::collections::BTreeMap;
use std::rc::Rc;

use harness::RawLock;

use super::is_played;
use super::moving_slot::{node_of_cluster, while_it_moves};
use crate::scripts::transcript::{Got, Kind, Place, World, code_of_refusal, is_same};

/// The states; each name has eight letters.
const STATES: &str = "free    : 
held    : A acquire 5
contend.: B listen; A acquire 5; B acquire 1; C acquire 9
deaf    : A acquire 5; C acquire 1; C dies; B acquire 2
waited  : B listen; A acquire 5; B acquire 1; C acquire 9; C dies; expire
claimed : B listen; A acquire 5; B acquire 1; C acquire 9; A end
unmarked: A acquire 5; B acquire 1; lose M
new     : lose M
foreign : set K 'stranger'; B acquire 1";

/// The commands, one per column.
const COMMANDS: &str = "\
A acquire 5, A acquire 5 p==zero+5s, B acquire 1, D acquire 0, D try 0, A yield zero 5, B yield zero 1, \
A hold zero 120s, B hold zero 120s, A renew 120s, A release, A end p=zero+500000, B end, A revoked zero+1s, mark";

/// The damages, one per block of columns.
const DAMAGES: &str =
    "full, spoil K, spoil F, set F 'x', spoil Q, spoil F; spoil Q, spoil M, moves";

/// Each cell: `=` if the answer and the records are as without the damage; a letter if nothing is written, for the code
/// WRONGTYPE (w), OOM (m), LOCKFENCE (n), or an error about the slot (s); `f` if the lock is freed, whatever waits for
/// it.
const EXPECTED: &str = "\
free     mmmmm==mm====== wwwwwwwwwwwwww= wwwww==ww====== nnnnn==nn====== wwwwwwwww==ww== wwwwwwwww==ww== wwwwwwwww=====w ssssssssssssss=
held     ==mm=========== wwwwwwwwwwwwww= =wwwww=======w= =nnnnn=======n= ==wwwww=====ww= =wwwwww=====ww= wwwwwwwww=====w sssssssss==sss=
contend. ==mm=m========= wwwwwwwwwwwwww= =wwwww=====f=w= =nnnnn=====f=n= ==wwwww====fww= =wwwwww====fww= wwwwwwwww==f=fw ===============
deaf     ==mm=========== wwwwwwwwwwwwww= =wwwww=====f=w= =nnnnn=====f=n= ==wwwww=====ww= =wwwwww=====ww= wwwwwwwww==f=fw ===============
waited   mmmmm==mm====== wwwwwwwwwwwwww= wwwww==ww====== nnnnn==nn====== wwwwwwwww==ww== wwwwwwwww==ww== wwwwwwwww=====w ssssssssssssss=
claimed  mm=m=========== wwwwwwwwwwwwww= ww=ww=w======== nn=nn=n======== ww=wwww====w=== ww=wwww====w=== wwwwwwwww=====w ===============
unmarked ==============m wwwww==wwwwwww= =============w= =============n= ============w== ============ww= wwwwwwwww=====w sssssssss==ssss
new      =======mm=====m wwwww==wwwwwww= =======ww====== =======nn====== =======ww==ww== =======ww==ww== wwwwwwwww=====w sssssssssssssss
foreign  mmmm=========== wwwwwwwwwwwwww= wwwww========== nnnnn========== wwwwwww====ww== wwwwwww====ww== wwwwwwwww=====w sssssssss==sss=
";

#[test]
fn damaged_node_refuses_or_answers_as_without_the_damage() {
    let (server, cluster) = (Rc::new(Place::real()), Rc::new(node_of_cluster()));
    assert_eq!(STATES.lines().count(), EXPECTED.lines().count());
    let (mut table, mut is_played) = (String::new(), is_played(4));
    let mut expected_table = String::new();
    for (line, expected) in STATES.lines().zip(EXPECTED.lines()).filter(|_| is_played()) {
        expected_table += &format!("{expected}\n");
        let (name, state) = line.split_once(": ").expect("a name and steps");
        let mut cells = vec![String::new(); DAMAGES.split(", ").count()];
        for command in COMMANDS.split(", ") {
            let mut usual = in_state(&server, state);
            let expected = outcome(&mut usual, command);
            let expected = relative(&format!("{expected:?}"), usual.zero);
            let expected = (expected, records(&mut usual));
            drop(usual);
            for (number, damage) in DAMAGES.split(", ").enumerate() {
                let server = if damage == "moves" { &cluster } else { &server };
                let cell = cell(in_state(server, state), damage, command, &expected);
                cells[number].push(cell);
            }
        }
        table += &format!("{name} {}\n", cells.join(" "));
    }
    assert!(table == expected_table, "{table}");
}

/// An answer and the records, by their names.
type Seen = (String, BTreeMap<String, String>);

fn cell(mut world: World, damage: &str, command: &str, expected: &Seen) -> char {
    let got = if damage == "moves" {
        let records = ["K", "F", "Q", "M"].map(|record| world.key(record));
        let mut admin = RawLock::new(&**world.server, "admin");
        let before = world.snapshot();
        let moved = while_it_moves(&mut admin, &records, |_| {
            match outcome(&mut world, command) {
                Got::Failed(error) => Err(error.to_string()),
                got => Ok(got),
            }
        });
        match moved.expect("no other refusal") {
            None if is_same(&before, &world.snapshot()) => return 's',
            None => return '!',
            Some(got) => got,
        }
    } else {
        damage.split("; ").for_each(|step| take(&mut world, step));
        let before = world.snapshot();
        let got = outcome(&mut world, command);
        if let Some(code) = code_of_refusal(&got) {
            let is_same = is_same(&before, &world.snapshot());
            let letters = [("WRONGTYPE", 'w'), ("OOM", 'm'), ("LOCKFENCE", 'n')];
            let letter = letters.iter().find(|(of, _)| is_same && *of == code);
            world.server.set_full(false);
            return letter.map_or('!', |(_, letter)| *letter);
        }
        world.server.set_full(false);
        got
    };
    let answer = relative(&format!("{got:?}"), world.zero);
    let (mut expected_records, mut seen) = (expected.1.clone(), records(&mut world));
    for spoiled in damage.split("; ").filter_map(|step| step.split(' ').nth(1)) {
        let key = world.key(spoiled);
        expected_records.remove(&key);
        seen.remove(&key);
    }
    match got {
        _ if (&answer, &seen) == (&expected.0, &expected_records) => '=',
        Got::Code(1) if world.lock().value().is_none() => 'f',
        _ => '!',
    }
}

fn in_state(server: &Rc<Place>, state: &str) -> World {
    let mut world = World::on(server.clone(), Kind::Node);
    state
        .split("; ")
        .filter(|step| !step.is_empty())
        .for_each(|step| take(&mut world, step));
    world
}

fn take(world: &mut World, step: &str) {
    let got = outcome(world, step);
    assert!(code_of_refusal(&got).is_none(), "{step}: {got:?}");
}

fn outcome(world: &mut World, step: &str) -> Got {
    // `zero` stands for the token of K, if there is one.
    let k = world.key("K");
    let value = redis::cmd("GET")
        .arg(k)
        .query::<String>(&mut *world.lock().connection);
    let token = value
        .ok()
        .and_then(|value| value.get(23..39)?.parse::<i64>().ok());
    let step = match (step.contains("yield zero"), token) {
        (true, Some(token)) => step.replace("zero", &token.to_string()),
        _ => step.to_owned(),
    };
    let words: Vec<&str> = step.split_whitespace().collect();
    world.carry_out(&words)
}

/// The records by their keys, and the messages by their listeners.
fn records(world: &mut World) -> BTreeMap<String, String> {
    let (text, zero) = (world.describe(), world.zero);
    let lines = text
        .lines()
        .skip(1)
        .map(|line| line.trim().split_once(' ').expect("a key"));
    let mut records: BTreeMap<String, String> = lines
        .map(|(key, text)| (key.to_owned(), relative(text, zero)))
        .collect();
    let listening: Vec<char> = world.listeners.keys().copied().collect();
    for who in listening {
        records.insert(who.to_string(), world.heard(who).join(" "));
    }
    records
}

/// Converts tokens and times to hundredths of a second since the beginning: a clock may count on.
fn relative(text: &str, zero: i64) -> String {
    let mut out = String::new();
    let mut digits = String::new();
    for letter in text.chars().chain(['\n']) {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        match digits.parse::<i64>() {
            Ok(number) if digits.len() == 16 => {
                out += &format!("<{}>", (number - zero + 4_999) / 10_000)
            }
            // A rest in ms.
            Ok(number) if number > 1_000 => out += &((number + 50) / 100).to_string(),
            _ => out += &digits,
        }
        digits.clear();
        out.push(letter);
    }
    out
}
