//! Random sequences with three locks that owners hold together, and owners that want one of them.

use std::cell::RefCell;

use harness::{RawLocks, RedisServer};
use lock_model::server::{
    Branch, KeysCommand, KeysMistake, KeysRun, Records as Modelled, Taken, run_keys,
};
use proptest::prelude::{Strategy, prop_oneof};

use super::answer::{any, code, compare, renewal};
use super::model::{Model, RULES, letter_of, memory_of, owner, ticks};
use super::records::Records;
use super::stage::{agree, assert_silent, hear, listen};
use super::step::{Step, Who, limit_memory, outside, ttl, who};
use super::{Listeners, SEQUENCES, explore};
use crate::scripts::branch::Tally;

const LOCKS: usize = 3;

/// One step; leases are in ms.
#[derive(Debug, Clone, Copy)]
enum OfSeveral {
    Acquire(Chosen, i64),
    Try(Chosen, i64),
    Renew(Chosen, i64),
    Release(Chosen),
    Rest(Chosen, i64),
    End(Chosen),
    /// A step with one of the locks.
    One(usize, Step),
}

/// An owner, by the state of one of the locks.
type Chosen = (usize, Who);

#[test]
fn scripts_of_several_locks_agree_with_the_model() {
    let stage = RefCell::new(Stage::new());
    let tally = RefCell::new(Tally::default());
    explore(OfSeveral::any(), SEQUENCES, |steps| {
        let outcome = stage.borrow_mut().play(steps, &mut tally.borrow_mut());
        limit_memory(&stage.borrow().server, false);
        outcome
    });
    let Stage {
        server, listeners, ..
    } = stage.into_inner();
    assert_silent(&server, listeners);

    let tally = tally.into_inner();
    print!("{tally}");
    let missing = tally.missing(Branch::OF_KEYS);
    assert_eq!(missing, [], "branches that were never taken");
}

impl OfSeveral {
    fn any() -> impl Strategy<Value = OfSeveral> {
        let chosen = || (0..LOCKS, who());
        prop_oneof![
            9 => (chosen(), ttl()).prop_map(|(who, ttl)| OfSeveral::Acquire(who, ttl)),
            2 => (chosen(), ttl()).prop_map(|(who, ttl)| OfSeveral::Try(who, ttl)),
            5 => (chosen(), ttl()).prop_map(|(who, ttl)| OfSeveral::Renew(who, ttl)),
            3 => chosen().prop_map(OfSeveral::Release),
            2 => (chosen(), ttl()).prop_map(|(who, ttl)| OfSeveral::Rest(who, ttl)),
            4 => chosen().prop_map(OfSeveral::End),
            12 => (0..LOCKS, Step::any(false)).prop_map(|(lock, step)| OfSeveral::One(lock, step)),
            2 => (0..LOCKS, outside()).prop_map(|(lock, step)| OfSeveral::One(lock, step)),
        ]
    }
}

struct Stage {
    server: RedisServer,
    listeners: Listeners,
    sequences: usize,
}

/// The locks of one sequence, and their models.
struct Scene<'a> {
    server: &'a RedisServer,
    all: RawLocks,
    models: Vec<Model>,
}

impl Stage {
    fn new() -> Stage {
        let server = RedisServer::builder().own_clock().start();
        server.stop_clock();
        Stage {
            listeners: listen(&server),
            server,
            sequences: 0,
        }
    }

    /// Plays `steps` with new locks; the error says where the server and the model differ.
    fn play(&mut self, steps: &[OfSeveral], tally: &mut Tally) -> Result<(), String> {
        self.sequences += 1;
        let outcome = self.play_all(steps, tally);
        if outcome.is_err() {
            // Messages that were not read must not reach the next sequence.
            self.listeners = listen(&self.server);
        }
        outcome
    }

    fn play_all(&mut self, steps: &[OfSeveral], tally: &mut Tally) -> Result<(), String> {
        let names = [1, 2, 3].map(|number| format!("order:{}:{number}", self.sequences));
        let now = self.server.clock().now();
        let mut scene = Scene {
            server: &self.server,
            all: RawLocks::new(&self.server, names.iter().map(String::as_str)),
            models: vec![Model::new(now, false); LOCKS],
        };
        for lock in &mut scene.all.locks {
            // That of all locks together is a day.
            lock.memory_of = memory_of;
        }
        for (number, step) in steps.iter().enumerate() {
            let before = scene.models.clone();
            for model in &mut scene.models {
                model.pushed.clear();
                model.told.clear();
                model.taken = Taken::default();
            }
            let outcome = scene.play(*step).and_then(|()| scene.compare());
            let outcome = outcome.and_then(|()| scene.hear(&mut self.listeners));
            outcome.map_err(|difference| {
                format!("step {number}, {step:?}: {difference}\nbefore: {before:#?}")
            })?;
            for model in &scene.models {
                model.taken.iter().for_each(|branch| tally.add(branch));
            }
        }
        Ok(())
    }
}

impl Scene<'_> {
    fn play(&mut self, step: OfSeveral) -> Result<(), String> {
        match step {
            OfSeveral::Acquire(who, ttl) => self.acquire(who, ttl, true),
            OfSeveral::Try(who, ttl) => self.acquire(who, ttl, false),
            OfSeveral::Renew(who, ttl) => {
                let who = self.is(who);
                let answer = self.all.renew(who, ttl);
                let (owner, ttl) = (owner(who), ticks(ttl));
                let run = self.run(KeysCommand::Renew { owner, ttl });
                compare(answer, run.answer, renewal)
            }
            OfSeveral::Release(who) => {
                let who = self.is(who);
                let answer = self.all.release(who);
                let run = self.run(KeysCommand::Release { owner: owner(who) });
                compare(answer, run.answer, code)
            }
            OfSeveral::Rest(who, ttl) => {
                let who = self.is(who);
                let answer = self.all.rest(who, ttl);
                let (owner, ttl) = (owner(who), ticks(ttl));
                let run = self.run(KeysCommand::Rest { owner, ttl });
                compare(answer, run.answer, code)
            }
            OfSeveral::End(who) => {
                let who = self.is(who);
                let answer = self.all.end(who);
                let run = self.run(KeysCommand::End { owner: owner(who) });
                compare(answer, run.answer, code)
            }
            OfSeveral::One(number, step) => {
                let model = &mut self.models[number];
                let outcome = step.play(self.server, &mut self.all.locks[number], model);
                let (now, mode) = (model.now, model.mode);
                for model in &mut self.models {
                    model.pass(now);
                    model.mode = mode;
                }
                outcome
            }
        }
    }

    fn acquire(&mut self, who: Chosen, ttl: i64, queue: bool) -> Result<(), String> {
        let who = self.is(who);
        let answer = match queue {
            true => self.all.acquire(who, ttl),
            false => self.all.try_acquire(who, ttl),
        };
        let (owner, ttl) = (owner(who), ticks(ttl));
        let run = self.run(KeysCommand::Acquire { owner, ttl, queue });
        let number = match &answer {
            // The script counts from 1.
            Ok((number, _)) => number.saturating_sub(1),
            Err(_) => 0,
        };
        agree("lock in the way", number, run.in_the_way)?;
        if matches!(answer, Ok((1.., _))) {
            agree("a later lock", self.all.holds_later, run.holds_later)?;
        }
        compare(answer.map(|(_, answer)| answer), run.answer, any)
    }

    /// Runs a script on the models.
    fn run(&mut self, command: KeysCommand) -> KeysRun {
        const RIGHT: Option<KeysMistake> = None;
        let mut records: Vec<Modelled> = self
            .models
            .iter()
            .map(|model| model.records.clone())
            .collect();
        let site = self.models[0].site();
        let run = run_keys(&mut records, command, &RULES, &site, RIGHT);
        for (model, records) in self.models.iter_mut().zip(records) {
            model.records = records;
        }
        for &(number, owner) in &run.announced {
            self.models[number].pushed.push(letter_of(owner));
        }
        self.models[0].taken = run.taken;
        run
    }

    fn is(&self, (number, who): Chosen) -> char {
        who.is(&self.models[number])
    }

    fn compare(&mut self) -> Result<(), String> {
        for (lock, model) in self.all.locks.iter_mut().zip(&self.models) {
            Records::read(lock).compare(model)?;
        }
        Ok(())
    }

    fn hear(&self, listeners: &mut Listeners) -> Result<(), String> {
        let mut locks = self.all.locks.iter().zip(&self.models);
        locks.try_for_each(|(lock, model)| hear(listeners, lock, model))
    }
}
