//! Random sequences with three locks that owners hold together, and owners that want one of them.

use std::cell::RefCell;

use harness::{RawLocks, RedisServer};
use lock_model::server::{Branch, Command, KeysRun, Records as Modelled, run_keys};
use proptest::prelude::{Strategy, prop_oneof};

use super::answer::{any, code, compare, renewal, shown};
use super::draw::{outside, ttl, who};
use super::model::{Model, RULES, letter_of, memory_of, owner, ticks};
use super::records::Records;
use super::stage::{agree, assert_silent, hear, listen};
use super::step::Step;
use super::{Listeners, explore, sequences};
use crate::scripts::branch::Tally;
use crate::scripts::transcript::{Pooled, pooled};

const LOCKS: usize = 3;

/// One step; leases are in ms.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OfSeveral {
    /// A step with all locks. Its owner is chosen by the state of one of them.
    All(usize, Step),
    /// A step with one of the locks.
    One(usize, Step),
}

#[test]
fn scripts_of_several_locks_agree_with_the_model() {
    let stage = RefCell::new(Stage::on(pooled()));
    let tally = RefCell::new(Tally::default());
    explore(
        OfSeveral::any(),
        sequences(),
        |steps| {
            let outcome = stage.borrow_mut().play(steps, &mut tally.borrow_mut());
            stage.borrow().server.config_set("maxmemory", "0");
            outcome
        },
        || tally.borrow().missing(Branch::OF_KEYS),
    );
    stage.into_inner().assert_no_more_messages();
    print!("{}", tally.into_inner());
}

impl OfSeveral {
    fn any() -> impl Strategy<Value = OfSeveral> {
        let all = prop_oneof![
            9 => (who(), ttl()).prop_map(|(who, ttl)| Step::Acquire(who, ttl)),
            2 => (who(), ttl()).prop_map(|(who, ttl)| Step::Try(who, ttl)),
            5 => (who(), ttl()).prop_map(|(who, ttl)| Step::Renew(who, ttl)),
            3 => who().prop_map(Step::Release),
            2 => (who(), ttl()).prop_map(|(who, ttl)| Step::Reserve(who, ttl)),
            4 => who().prop_map(Step::End),
        ];
        prop_oneof![
            25 => (0..LOCKS, all).prop_map(|(lock, step)| OfSeveral::All(lock, step)),
            12 => (0..LOCKS, Step::any(false)).prop_map(|(lock, step)| OfSeveral::One(lock, step)),
            2 => (0..LOCKS, outside()).prop_map(|(lock, step)| OfSeveral::One(lock, step)),
        ]
    }
}

pub(crate) struct Stage {
    pub(crate) server: Pooled,
    pub(crate) listeners: Listeners,
    sequences: usize,
}

/// The locks of one sequence, and their models.
pub(crate) struct Scene<'a> {
    server: &'a RedisServer,
    pub(crate) all: RawLocks,
    pub(crate) models: Vec<Model>,
}

impl Stage {
    pub(crate) fn on(server: Pooled) -> Stage {
        Stage {
            listeners: listen(&server),
            server,
            sequences: 0,
        }
    }

    /// Plays `steps` with new locks; the error describes where the server and the model differ.
    pub(crate) fn play(&mut self, steps: &[OfSeveral], tally: &mut Tally) -> Result<(), String> {
        self.sequences += 1;
        let outcome = self.play_all(steps, tally);
        if outcome.is_err() {
            // Messages that were not read must not reach the next sequence.
            self.listeners = listen(&self.server);
        }
        outcome
    }

    fn play_all(&mut self, steps: &[OfSeveral], tally: &mut Tally) -> Result<(), String> {
        let Stage {
            server,
            listeners,
            sequences,
        } = self;
        let mut scene = Scene::new(server, *sequences);
        for (number, step) in steps.iter().enumerate() {
            let before = scene.models.clone();
            let outcome = scene.step(*step, listeners, tally);
            outcome.map_err(|difference| {
                format!("step {number}, {step:?}: {difference}\nbefore: {before:#?}")
            })?;
        }
        Ok(())
    }
}

impl Stage {
    /// Asserts that no script sent more messages than it should.
    pub(crate) fn assert_no_more_messages(self) {
        assert_silent(&self.server, self.listeners);
    }
}

impl<'a> Scene<'a> {
    /// Three locks without any records, in one slot.
    pub(crate) fn new(server: &'a RedisServer, number: usize) -> Scene<'a> {
        let names = [1, 2, 3].map(|of| format!("{{order:{number}}}:{of}"));
        let now = server.clock().now();
        let mut all = RawLocks::new(server, names.iter().map(String::as_str));
        for lock in &mut all.locks {
            // Fences of calls for all locks are kept for a day.
            lock.memory_of = memory_of;
        }
        let models = vec![Model::new(now, false); LOCKS];
        Scene {
            server,
            all,
            models,
        }
    }

    /// Plays one step; afterwards the server and the model must agree.
    pub(crate) fn step(
        &mut self,
        step: OfSeveral,
        listeners: &mut Listeners,
        tally: &mut Tally,
    ) -> Result<(), String> {
        self.begin();
        self.play(step)?;
        self.compare(listeners)?;
        for model in &self.models {
            model.taken.iter().for_each(|branch| tally.add(branch));
        }
        Ok(())
    }

    /// Plays the steps that lead to a state, without looking at the records.
    pub(crate) fn prepare(
        &mut self,
        steps: impl IntoIterator<Item = OfSeveral>,
        listeners: &mut Listeners,
    ) -> Result<(), String> {
        for step in steps {
            self.play(step)?;
            self.hear(listeners)?;
            self.begin();
        }
        Ok(())
    }

    fn begin(&mut self) {
        self.models.iter_mut().for_each(Model::begin);
    }

    /// Compares the records, and takes the messages that the models expect.
    pub(crate) fn compare(&mut self, listeners: &mut Listeners) -> Result<(), String> {
        let mut locks = self.all.locks.iter_mut().zip(&self.models);
        locks.try_for_each(|(lock, model)| Records::read(lock).compare(model))?;
        self.hear(listeners)
    }

    fn hear(&mut self, listeners: &mut Listeners) -> Result<(), String> {
        let mut locks = self.all.locks.iter().zip(&self.models);
        locks.try_for_each(|(lock, model)| hear(listeners, lock, model))
    }
}

impl Scene<'_> {
    pub(crate) fn play(&mut self, step: OfSeveral) -> Result<(), String> {
        match step {
            OfSeveral::All(number, step) => self.play_with_all(&self.models[number].clone(), step),
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

    fn play_with_all(&mut self, model: &Model, step: Step) -> Result<(), String> {
        match step {
            Step::Acquire(who, signed) | Step::Try(who, signed) => {
                let queue = matches!(step, Step::Acquire(..));
                let who = who.is(model);
                let answer = self.all.acquire(who, if queue { signed } else { -signed });
                let (owner, ttl) = (owner(who), ticks(signed));
                let run = self.run(Command::Acquire { owner, ttl, queue });
                if let &Ok((number, ref answer)) = &answer {
                    // The script counts from 1.
                    let in_the_way = number.saturating_sub(1);
                    self.models[in_the_way].shown = shown(answer);
                    agree("lock in the way", in_the_way, run.in_the_way)?;
                    if number > 0 {
                        agree("a later lock", self.all.holds_later, run.holds_later)?;
                    }
                }
                compare(answer.map(|(_, answer)| answer), run.answer, any)
            }
            Step::Renew(who, ttl) => {
                let answer = self.all.renew(who.is(model), ttl);
                let (owner, ttl) = (owner(who.is(model)), ticks(ttl));
                let run = self.run(Command::Renew { owner, ttl });
                compare(answer, run.answer, renewal)
            }
            Step::Release(who) => {
                let (answer, owner) = (self.all.release(who.is(model)), owner(who.is(model)));
                let run = self.run(Command::Release { owner });
                compare(answer, run.answer, code)
            }
            Step::Reserve(who, ttl) => {
                let answer = self.all.reserve(who.is(model), ttl);
                let (owner, ttl) = (owner(who.is(model)), ticks(ttl));
                let run = self.run(Command::Reserve { owner, ttl });
                compare(answer, run.answer, code)
            }
            Step::End(who) => {
                let (answer, owner) = (self.all.end(who.is(model)), owner(who.is(model)));
                let run = self.run(Command::End {
                    owner,
                    successor: None,
                });
                compare(answer, run.answer, code)
            }
            other => unreachable!("{other:?} is no step of all locks"),
        }
    }

    /// Runs a script on the models.
    fn run(&mut self, command: Command) -> KeysRun {
        let mut records: Vec<Modelled> = self
            .models
            .iter()
            .map(|model| model.records.clone())
            .collect();
        let site = self.models[0].site();
        let run = run_keys(&mut records, command, &RULES, &site);
        for (model, records) in self.models.iter_mut().zip(records) {
            model.records = records;
        }
        for &(number, owner) in &run.announced {
            self.models[number].pushed.push(letter_of(owner));
        }
        self.models[0].taken = run.taken;
        run
    }
}
