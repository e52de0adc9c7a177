//! Random sequences with three locks that owners hold together, and owners that want one of them.

use lock_model::server::{Branch, Command, KeysRun, Records, run_keys};
use proptest::prelude::{Strategy, prop_oneof};

use super::answer::{any, code, compare, renewal, shown};
use super::draw::{outside, ttl, who};
use super::model::{RULES, letter_of, owner, ticks};
use super::stage::{Locks, OnLocks, Stage, agree};
use super::step::{Step, Who};
use super::{play, sequences};
use crate::scripts::transcript::Place;

#[test]
fn scripts_of_several_locks_agree_with_the_model() {
    let stage = Stage::on(Place::fake(), Locks::Several);
    play(stage, steps(), sequences(), Branch::OF_KEYS);
}

fn steps() -> impl Strategy<Value = OnLocks> {
    let all = prop_oneof![
        9 => (who(), ttl()).prop_map(|(who, ttl)| Step::Acquire(who, ttl)),
        2 => (who(), ttl()).prop_map(|(who, ttl)| Step::Try(who, ttl)),
        5 => (who(), ttl()).prop_map(|(who, ttl)| Step::Renew(who, ttl)),
        3 => who().prop_map(Step::Release),
        2 => (who(), ttl()).prop_map(|(who, ttl)| Step::Reserve(who, ttl)),
        4 => who().prop_map(Step::End),
    ];
    let locks = 0..Locks::Several.count();
    prop_oneof![
        25 => (locks.clone(), all).prop_map(|(lock, step)| OnLocks::All(lock, step)),
        12 => (locks.clone(), Step::any(false)).prop_map(|(lock, step)| OnLocks::One(lock, step)),
        2 => (locks, outside()).prop_map(|(lock, step)| OnLocks::One(lock, step)),
    ]
}

impl Stage {
    /// Plays a step with all locks.
    pub(super) fn play_with_all(&mut self, number: usize, step: Step) -> Result<(), String> {
        let is = |who: Who| who.is(&self.models[number]);
        match step {
            Step::Acquire(who, ms) | Step::Try(who, ms) => {
                let who = is(who);
                self.acquire(who, ms, matches!(step, Step::Acquire(..)))
            }
            Step::Renew(who, ms) => {
                let (owner, ttl) = (owner(is(who)), ticks(ms));
                let answer = self.all.renew(is(who), ms);
                let run = self.run(Command::Renew { owner, ttl });
                compare(answer, run.answer, renewal)
            }
            Step::Release(who) => {
                let (answer, owner) = (self.all.release(is(who)), owner(is(who)));
                let run = self.run(Command::Release { owner });
                compare(answer, run.answer, code)
            }
            Step::Reserve(who, ms) => {
                let (owner, ttl) = (owner(is(who)), ticks(ms));
                let answer = self.all.reserve(is(who), ms);
                let run = self.run(Command::Reserve { owner, ttl });
                compare(answer, run.answer, code)
            }
            Step::End(who) => {
                let (answer, owner) = (self.all.end(is(who)), owner(is(who)));
                let successor = None;
                let run = self.run(Command::End { owner, successor });
                compare(answer, run.answer, code)
            }
            other => unreachable!("{other:?} is no step of all locks"),
        }
    }

    fn acquire(&mut self, who: char, ms: i64, queue: bool) -> Result<(), String> {
        let answer = self.all.acquire(who, if queue { ms } else { -ms });
        let (owner, ttl) = (owner(who), ticks(ms));
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

    /// Runs a script on the models.
    fn run(&mut self, command: Command) -> KeysRun {
        let mut records: Vec<Records> = self
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
