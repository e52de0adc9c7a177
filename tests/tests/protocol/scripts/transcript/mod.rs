//! Transcripts: what the scripts answer, a step a line. This is the one player of all of them.
//!
//! A line is `step | answer | facts`; the answer and the facts afterwards may be left out. `#` begins a comment.
//! The clock stands still unless a step moves it. Owners are letters, each a process of its own; one that listens has a
//! live process, and another is a waiter whose subscription is gone. Several letters take the step one after the other.
//!
//! | step | what happens |
//! |---|---|
//! | `A acquire`, `try`, `renew`, `release`, `reserve`, `end` | a script of a plain lock; a ttl may follow, else it is 60 s |
//! | `A take`, `mint 3s` | the plain command that takes a free lock without a token, and the token that its holder asks for, so long after the grant |
//! | `A downgrade 3s` | the holder becomes a reader, so long after the grant |
//! | `A end next N` | the end with a successor of the same process |
//! | `… r`, `… 2/3`, `… w` | as a reader, for two of three permits, as a writer |
//! | `… all`, `… @2` | of all three locks together, of the second one alone |
//! | `A acquire 10 p=T`, `yield T 10`, `hold T`, `end p=T`, `revoke T`, `mark` | of a quorum's node: stamp 10, proposal T (`=T` of a node) |
//! | `revoke T`, `revoke 'text' 4` | an operator takes the lock from the owner with this token, from another program |
//! | `BC listen`, `monitor`, `B dies`, `B silent`, `B enters 7` | processes, heartbeats, and entries as after a failover |
//! | `expire`, `lose R`, `spoil Q`, `persist K`, `shorten F 5s`, `set F T 5s`, `flag`, `unflag` | effects from outside |
//! | `fill 9`, `leave X`, `crash 9 T`, `uncount` | dead waiters in Q, shares of crashed holders in R, the loss of their sum |
//! | `put A1 mode=read`, `push C`, `revoke A1` | fields of Redisson's record, its fair queue, its revocation |
//! | `pass 5s`, `pass to 20ms` (after the second), `back 5s`, `full`, `deny -pubsub`, `boot b`, `delay 400`, `disagree 400` | the server, and the delay of the client |
//!
//! Answers: `held T`, `held+ T` (a waiter queues; T is `none` for a lock without a token), `waits 1 A claim`, `nil`, a word of [`answer::CODES`], `refused CODE`
//! (and nothing is written), `fails CODE`. A token T is a name, which the first use binds, `now`, `zero` (the time at the
//! beginning) or a number, and so much more or less: `a+16`, `zero+3s`. Facts are those of [`facts`].
//!
//! `for n m in 1 a, 2 b` plays the transcript for each of these values of `$n` and `$m`.

mod answer;
mod facts;
mod number;
mod outside;
mod place;
mod pool;
mod redisson;
mod verbs;
mod world;

use std::rc::Rc;

pub(super) use answer::{Got, code_of_refusal};
pub(super) use place::Place;
pub(super) use pool::{Pooled, pooled};
pub(super) use world::{COUNTED_ON_MS, Kind, World, is_same};

macro_rules! transcripts {
    ($kind:ident; $($(#[$meta:meta])* $name:ident = $text:literal)*) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            use $crate::scripts::transcript::{Kind, play};
            play(Kind::$kind, stringify!($name), $text);
        }
    )*};
}
pub(super) use transcripts;

/// Plays a transcript, for all values of its variables.
///
/// # Panics
///
/// At the first step that goes another way.
pub(super) fn play(kind: Kind, name: &str, text: &str) {
    let (variables, lines): (Vec<&str>, Vec<&str>) =
        lines_of(text).partition(|line| line.starts_with("for "));
    let mut texts = vec![lines.join("\n")];
    for line in variables {
        let (names, rows) = line[4..].split_once(" in ").expect("for NAMES in VALUES");
        let rows: Vec<&str> = rows.split(", ").collect();
        let filled = |text: &String| -> Vec<String> {
            rows.iter().map(|row| fill_in(text, names, row)).collect()
        };
        texts = texts.iter().flat_map(filled).collect();
    }
    for text in texts {
        for place in Place::all() {
            let mut world = World::on(Rc::new(place), kind);
            for (number, line) in text.lines().enumerate() {
                let played = play_line(&mut world, line);
                let number = number + 1;
                if let Err(difference) = played {
                    let (records, place) = (world.describe(), world.server.name());
                    panic!(
                        "transcript {name} on {place}, step {number}: {line}\n{difference}\n{records}"
                    );
                }
            }
        }
    }
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(|line| match line.split_once(" #") {
        Some((line, _)) => line.trim(),
        None => line.trim(),
    });
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn fill_in(text: &str, names: &str, row: &str) -> String {
    let pairs = names.split_whitespace().zip(row.split_whitespace());
    // `_` is a space, or nothing if it stands alone.
    pairs.fold(text.to_owned(), |text, (name, value)| match value {
        "_" => text.replace(&format!("${name}"), ""),
        value => text.replace(&format!("${name}"), &value.replace('_', " ")),
    })
}

fn play_line(world: &mut World, line: &str) -> Result<(), String> {
    let mut columns = line.split(" | ").map(str::trim);
    let step: Vec<&str> = columns.next().expect("a step").split_whitespace().collect();
    let (answer, facts) = (columns.next().unwrap_or(""), columns.next().unwrap_or(""));
    let is_compared = answer.starts_with("refused") || facts.contains("same");
    let before = if is_compared {
        world.snapshot()
    } else {
        Vec::new()
    };
    let has_owners = step.get(1).is_some_and(|verb| verbs::is_of_owner(verb));
    let each = if has_owners { 1 } else { step[0].len() };
    for place in (0..step[0].len()).step_by(each) {
        let step = [&[&step[0][place..place + each]], &step[1..]].concat();
        let got = world.carry_out(&step);
        world.check_answer(answer, &got, &before)?;
        for now in std::mem::take(&mut world.times) {
            world.check_near("now", now, 1)?;
        }
    }
    let mut facts = facts.split(", ").filter(|fact| !fact.is_empty());
    facts.try_for_each(|fact| world.check_fact(fact, &before))
}

/// Fails with what was expected.
fn expect(holds: bool, expected: &str, got: impl std::fmt::Debug) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(format!("  expected {expected}\n  got      {got:?}"))
    }
}
