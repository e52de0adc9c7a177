//! Damage as one matrix: for each state, each damage and each command, the model's answer, records and messages, or a
//! refusal with nothing written.
//!
//! The damages are a server out of memory, a record of another type or none, a fence that is not a number, and a slot
//! that is being moved. While a slot moves, the server refuses a script if one of its keys is missing, and a script
//! that names a key that it has itself removed would fail half-way. `node` has a quorum's node, whose model covers none
//! of this.

mod moving_slot;
mod node;
mod several;

use harness::{Form, seed};
use lock_model::server::Branch;

use super::TTL;
use super::random::stage::{Locks, OnLocks, Stage};
use super::random::step::{Record, Span, Step, Who};
use super::transcript::Place;

/// States of a plain lock: how it gets there.
const STATES: &str = "
A acquire
A acquire, B acquire
A acquire, G acquire
A acquire, B acquire, C acquire, B dies
A acquire, B acquire, D acquire, C acquire, pass 3s, D acquire, C acquire, pass 4s
A acquire, B acquire, holder queues
A acquire, B acquire, C acquire, lose K
A acquire, B acquire, C acquire, B dies, lose K
A acquire, G acquire, lose K
A acquire, B acquire, C acquire, lose K, D try, lose K
A acquire, B acquire, C acquire, A end
A acquire, B acquire, A end next C
A acquire, B acquire, A reserve
A acquire, B acquire, A reserve, back 60s
A acquire, B acquire, persist
A take
A take, B acquire
A take, G acquire, A mint
A acquire, B acquire, lose K, A take
stranger, B acquire";

/// States of a lock that is shared. A and E want the lock alone, B and F read, and the others take permits: C 1 of 2, D 2
/// of 3, and G and H, whose processes are not subscribed, 1 and 2 of 3.
const STATES_OF_SHARES: &str = "
B acquire
B acquire, D acquire
B acquire, A acquire
B acquire, A acquire, lose K
B acquire, G acquire, D acquire, F acquire
C acquire, B acquire, D acquire, A acquire
B acquire, A acquire, F acquire, A dies
A acquire, B acquire, D acquire, E acquire
A acquire, B acquire, F acquire, A end
D acquire, lose K
D acquire, lose K, A acquire, B acquire
D acquire, lose K, A acquire, B acquire, F acquire, A end
B acquire 2s, D acquire, pass 5s
B acquire 2s, D acquire, A acquire, pass 5s
B acquire, F acquire, lose R
A acquire, B acquire, E acquire, F acquire, lose K
D acquire, lose K, A acquire, B acquire, lose K
A acquire, B acquire, A reserve
A acquire, A downgrade 2s, B acquire, pass 3s
A acquire, B acquire, G acquire, F acquire, E acquire, B dies
A acquire, B acquire, F acquire, pass 2s, F acquire
B acquire, lose K, stranger
D acquire, H acquire";

/// The first is none.
const DAMAGES: &str = "\
; full; spoil K; spoil F; text F; spoil Q; spoil R; spoil F, spoil Q; lose F; lose Q; lose R; lose F, full; lose Q, full";

/// Records that are missing while the slot moves.
const MOVES: &str = "\
; lose K; lose F; lose Q; lose R; lose F, lose Q";

/// The commands of an owner, and the commands without an owner.
const COMMANDS: &str = "\
acquire; try; take; mint 3s; renew 120s; release; reserve; end; end w; end next E; delete; downgrade";
const OTHERS: &str = "\
A renew 1s; A end next B; A end next B 1s; A end next C; A delete other; A downgrade 10s; \
revoke; revoke 15; revoke 16; revoke -1; revoke A; revoke B";

/// A holder, a waiter and a stranger in most of the states.
const OWNERS: &str = "ABCD";

#[test]
fn damaged_plain_lock_is_refused_or_answered_like_the_model() {
    let stage = Stage::on(Place::real(), Locks::Plain);
    damage(stage, STATES, DAMAGES, Branch::ALL);
}

#[test]
fn damaged_shared_lock_is_refused_or_answered_like_the_model() {
    let stage = Stage::on(Place::real(), Locks::Shared);
    damage(stage, STATES_OF_SHARES, DAMAGES, Branch::OF_SHARES);
}

#[test]
fn plain_lock_whose_slot_moves_is_refused_or_answered_as_if_it_stayed() {
    moving_slot::play(Locks::Plain, STATES, MOVES);
}

#[test]
fn shared_lock_whose_slot_moves_is_refused_or_answered_as_if_it_stayed() {
    moving_slot::play(Locks::Shared, STATES_OF_SHARES, MOVES);
}

/// Plays the cells of a matrix, which must take these branches if all are played.
fn damage(mut stage: Stage, states: &str, damages: &str, branches: &[Branch]) {
    for_each_cell(
        states,
        damages,
        &commands(stage.locks, stage.deletes),
        |[state, damage, command]| {
            stage.begin();
            stage.prepare(steps(state))?;
            for step in steps(damage).chain(steps(command)) {
                stage.step(step)?;
            }
            stage.free_memory();
            Ok(())
        },
    );
    if Form::of_this_run() == Form::Long {
        // Only a server that compares and deletes has the branches of a delete.
        let mut missing = stage.tally.missing(branches);
        missing.retain(|branch| !format!("{branch:?}").starts_with("Delete"));
        assert_eq!(missing, [], "branches that were never taken");
    }
    stage.assert_no_more_messages();
}

/// Which of many parts this run plays: all in the long form; in the short form every so many, from a random one on.
/// `every` should share no factor with the numbers of the matrix, so that each run crosses all its rows and columns.
fn is_played(every: u64) -> impl FnMut() -> bool {
    let every = Form::of_this_run().pick(every, 1);
    let mut turn = seed() % every;
    move || {
        turn += 1;
        turn.is_multiple_of(every)
    }
}

/// Plays each state with each damage and each command.
fn for_each_cell(
    states: &str,
    damages: &str,
    commands: &[String],
    mut play: impl FnMut([&str; 3]) -> Result<(), String>,
) {
    let mut is_played = is_played(29);
    for state in states.split('\n') {
        for damage in damages.split("; ") {
            for command in commands.iter().filter(|_| is_played()) {
                if let Err(difference) = play([state, damage, command]) {
                    panic!("[{state}] damaged by [{damage}], then {command}:\n{difference}");
                }
            }
        }
    }
}

fn commands(locks: Locks, deletes: bool) -> Vec<String> {
    if locks == Locks::Several {
        return several::COMMANDS.split("; ").map(str::to_owned).collect();
    }
    let verbs = COMMANDS.split("; ");
    let of_owners = verbs.flat_map(|verb| OWNERS.chars().map(move |who| format!("{who} {verb}")));
    of_owners
        .chain(OTHERS.split("; ").map(str::to_owned))
        .filter(|command| deletes || !command.contains("delete"))
        .collect()
}

/// The steps of a state, a damage or a command.
fn steps(text: &str) -> impl Iterator<Item = OnLocks> {
    text.split(", ")
        .filter(|step| !step.is_empty())
        .map(on_locks)
}

/// A step of an owner of all locks, a step with one lock, by its number, or with the first.
fn on_locks(text: &str) -> OnLocks {
    if let Some((who, verb)) = text.split_once(" all ") {
        return OnLocks::All(0, step(&format!("{who} {verb}")));
    }
    let numbered = text.split_once(' ').and_then(|(number, text)| {
        let number: usize = number.parse().ok()?;
        Some(OnLocks::One(number - 1, step(text)))
    });
    numbered.unwrap_or_else(|| OnLocks::One(0, step(text)))
}

fn step(text: &str) -> Step {
    let words: Vec<&str> = text.split_whitespace().collect();
    let who = |word: &str| Who::Any(word.chars().next().expect("a letter"));
    let ms = words
        .last()
        .and_then(|word| word.strip_suffix('s')?.parse::<i64>().ok());
    let ttl = ms.map_or(TTL, |seconds| seconds * 1_000);
    match words[..] {
        ["full"] => Step::MemoryIsFull,
        ["persist"] => Step::LeaseIsLifted,
        ["holder", "queues"] => Step::HolderIsBackInTheQueue,
        ["stranger"] => Step::StrangerTakes(None),
        ["revoke"] => Step::Revoke(0),
        ["revoke", word] => match word.parse() {
            Ok(off) => Step::Revoke(off),
            Err(_) => Step::RevokeOwner(who(word)),
        },
        ["pass", _] => Step::TimePasses(Span(2 * ttl.unsigned_abs() / 1_000)),
        ["back", _] => Step::ClockGoesBack(Span(2 * ttl.unsigned_abs() / 1_000)),
        ["lose", key] => Step::IsLost(record(key)),
        ["spoil", key] => Step::IsSpoiled(record(key)),
        ["text", "F"] => Step::FenceBecomesText,
        [owner, "acquire", ..] => Step::Acquire(who(owner), ttl),
        [owner, "take"] => Step::Take(who(owner), ttl),
        [owner, "mint", ..] => Step::Mint(who(owner), ms.map_or(0, |seconds| seconds * 1_000)),
        [owner, "try"] => Step::Try(who(owner), ttl),
        [owner, "renew", ..] => Step::Renew(who(owner), ttl),
        [owner, "release"] => Step::Release(who(owner)),
        [owner, "delete"] => Step::Delete(who(owner), true),
        [owner, "delete", "other"] => Step::Delete(who(owner), false),
        [owner, "reserve"] => Step::Reserve(who(owner), ttl),
        [owner, "end"] => Step::End(who(owner)),
        [owner, "end", "w"] => Step::EndWrite(who(owner)),
        [owner, "end", "next", next, ..] => Step::EndWithNext(who(owner), who(next), ttl),
        [owner, "downgrade", ..] => Step::Downgrade(who(owner), ttl, 3_000),
        [owner, "dies"] => Step::HeartIsLost(who(owner)),
        ref other => panic!("no step {other:?}"),
    }
}

fn record(key: &str) -> Record {
    match key {
        "K" => Record::Lock,
        "F" => Record::Fence,
        "Q" => Record::Queue,
        "R" => Record::Shares,
        other => panic!("no record {other}"),
    }
}
