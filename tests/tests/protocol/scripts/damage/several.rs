//! Three locks that one owner holds together.

use harness::RawLock;
use lock_model::server::Branch;

use super::moving_slot::{node_of_cluster, while_it_moves};
use super::{OfSeveral, Tally, for_each_cell, pooled};
use crate::scripts::random::several::{Scene, Stage};
use crate::scripts::random::step::limit_memory;

const STATES: &str = "
A all acquire
A all acquire, 1 B acquire, 2 C acquire, 3 G acquire
3 B acquire, A all acquire
2 B acquire, A all acquire, 1 C acquire
2 B acquire, A all acquire, 1 C acquire, 2 C acquire, 2 B end
1 B acquire, 1 C acquire, 1 lose K
2 B acquire, A all acquire, 2 C acquire, 2 lose K
A all acquire, 1 B acquire, 1 B dies, 2 B acquire, 2 B dies, 3 B acquire";

const DAMAGES: &str = "\
; 1 full; 1 spoil K; 1 spoil F; 1 text F; 1 spoil Q; 2 spoil K; 2 spoil F; 2 text F; 2 spoil Q; 3 spoil K; 3 spoil F; \
3 text F; 3 spoil Q; 1 spoil F, 2 spoil Q; 2 lose K; 1 spoil K, 2 spoil K, 3 spoil K";

const MOVES: &str = "\
; 1 lose K; 2 lose K; 3 lose Q; 1 lose F; 1 lose Q, 2 lose Q, 3 lose Q";

const COMMANDS: &str = "\
A all acquire; A all try; A all renew 120s; A all release; A all reserve; A all end; D all acquire; D all try; D all end; \
B all acquire; B all end";

#[test]
fn damaged_locks_are_refused_or_answered_like_the_model() {
    let mut stage = Stage::on(pooled());
    let mut tally = Tally::default();
    let mut cells = 0;
    for_each_cell(STATES, DAMAGES, &commands(), |[state, damage, command]| {
        cells += 1;
        let mut scene = Scene::new(&stage.server, cells);
        scene.prepare(steps(state), &mut stage.listeners)?;
        for step in steps(damage).chain(steps(command)) {
            scene.step(step, &mut stage.listeners, &mut tally)?;
        }
        if damage == "1 full" {
            limit_memory(&mut scene.all.locks[0], false);
        }
        Ok(())
    });
    super::assert_every_branch_was_taken(&tally, Branch::OF_KEYS);
    stage.assert_no_more_messages();
}

#[test]
fn locks_whose_slot_moves_are_refused_or_answered_as_if_it_stayed() {
    let mut stage = Stage::on(node_of_cluster());
    let mut admin = RawLock::new(&stage.server, "admin");
    let mut cells = 0;
    for_each_cell(STATES, MOVES, &commands(), |[state, lost, command]| {
        cells += 1;
        let mut scene = Scene::new(&stage.server, cells);
        scene.prepare(steps(state).chain(steps(lost)), &mut stage.listeners)?;
        let before = scene.models.clone();
        // Renewals, releases and reservations name only K.
        let is_short = ["renew 120s", "release", "reserve"]
            .iter()
            .any(|verb| command.ends_with(verb));
        let count = if is_short { 1 } else { 3 };
        let names = |lock: &RawLock| [&lock.k, &lock.f, &lock.q].map(String::clone);
        let locks = scene.all.locks.iter();
        let records: Vec<String> = locks
            .flat_map(|lock| names(lock).into_iter().take(count))
            .collect();
        let command = steps(command).next().expect("a command");
        let done = while_it_moves(&mut admin, &records, |_| scene.play(command))?;
        if done.is_none() {
            scene.models = before;
        }
        scene.compare(&mut stage.listeners)
    });
    stage.assert_no_more_messages();
}

fn commands() -> Vec<String> {
    COMMANDS.split("; ").map(str::to_owned).collect()
}

fn steps(text: &str) -> impl Iterator<Item = OfSeveral> {
    text.split(", ").filter(|step| !step.is_empty()).map(step)
}

/// A step of an owner of all locks, or a step on one lock, by its number.
fn step(text: &str) -> OfSeveral {
    if let Some((who, verb)) = text.split_once(" all ") {
        return OfSeveral::All(0, super::step(&format!("{who} {verb}")));
    }
    let (number, step) = text.split_once(' ').expect("a number and a step");
    match number.parse::<usize>() {
        Ok(number) => OfSeveral::One(number - 1, super::step(step)),
        Err(_) => panic!("no step {text}"),
    }
}
