//! A server, the listeners on it, and the locks of one sequence after the other, with their models.

use harness::{Listener, RawLock, RawLocks, ScriptServer, owner};

use super::Listeners;
use super::model::{LISTENING, Model, memory_of};
use super::records::Records;
use super::step::{Step, limit_memory};
use crate::scripts::NOTICE;
use crate::scripts::branch::Tally;
use crate::scripts::transcript::Place;

/// The locks of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locks {
    /// A lock that nobody shares.
    Plain,
    /// A lock for which some of the letters ask for shares.
    Shared,
    /// Three locks, which owners take one by one or together.
    Several,
}

/// One step of a sequence, and its locks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OnLocks {
    /// With one of the locks.
    One(usize, Step),
    /// With all locks. Its owner is chosen by the state of one of them.
    All(usize, Step),
}

pub(crate) struct Stage {
    /// The server compares and deletes.
    pub(crate) deletes: bool,
    pub(crate) locks: Locks,
    pub(crate) all: RawLocks,
    pub(crate) models: Vec<Model>,
    pub(crate) tally: Tally,
    listeners: Listeners,
    sequences: usize,
    // Last, so that connections end before the server is used again.
    pub(crate) server: Place,
}

impl Locks {
    pub(crate) fn count(self) -> usize {
        match self {
            Locks::Plain | Locks::Shared => 1,
            Locks::Several => 3,
        }
    }
}

impl Stage {
    pub(crate) fn on(server: Place, locks: Locks) -> Stage {
        let mut all = RawLocks::new(&*server, std::iter::repeat_n("order", locks.count()));
        Stage {
            deletes: all.locks[0].can_delete(),
            locks,
            all,
            models: Vec::new(),
            tally: Tally::default(),
            listeners: listen(&*server),
            sequences: 0,
            server,
        }
    }

    /// Plays `steps` with new locks; the error describes where the server and the model differ.
    pub(crate) fn play(&mut self, steps: &[OnLocks]) -> Result<(), String> {
        self.begin();
        let outcome = self.play_all(steps);
        if outcome.is_err() {
            // Messages that were not read must not reach the next sequence.
            self.listeners = listen(&*self.server);
        }
        self.free_memory();
        outcome
    }

    fn play_all(&mut self, steps: &[OnLocks]) -> Result<(), String> {
        for (number, step) in steps.iter().enumerate() {
            let before = self.models.clone();
            self.step(*step).map_err(|difference| {
                format!("step {number}, {step:?}: {difference}\nbefore: {before:#?}")
            })?;
        }
        Ok(())
    }

    /// Begins with locks without any records, in one slot. Their connections stay.
    pub(crate) fn begin(&mut self) {
        self.sequences += 1;
        let before = std::mem::take(&mut self.all.locks).into_iter().zip(1..);
        let locks = before.map(|(lock, place)| {
            let name = format!("{{order:{}}}:{place}", self.sequences);
            let mut lock = RawLock::on(lock.connection, &name);
            // Fences of calls for all locks are kept for a day.
            lock.memory_of = memory_of;
            lock
        });
        self.all.locks = locks.collect();
        let model = Model::new(self.server.time(), self.locks == Locks::Shared);
        self.models = vec![model; self.locks.count()];
    }

    /// Plays the steps that lead to a state, without looking at the records.
    pub(crate) fn prepare(
        &mut self,
        steps: impl IntoIterator<Item = OnLocks>,
    ) -> Result<(), String> {
        for step in steps {
            self.carry_out(step)?;
            self.hear()?;
        }
        self.models.iter_mut().for_each(Model::begin);
        Ok(())
    }

    /// Plays one step; afterwards the server and the model must agree.
    pub(crate) fn step(&mut self, step: OnLocks) -> Result<(), String> {
        self.carry_out(step)?;
        self.compare()?;
        let taken = self.models.iter().flat_map(|model| model.taken.iter());
        taken.for_each(|branch| self.tally.add(branch));
        Ok(())
    }

    /// Plays one step, and compares the answer.
    pub(crate) fn carry_out(&mut self, step: OnLocks) -> Result<(), String> {
        self.models.iter_mut().for_each(Model::begin);
        match step {
            OnLocks::All(number, step) => self.play_with_all(number, step),
            OnLocks::One(number, step) => {
                let model = &mut self.models[number];
                let outcome = step.play(&*self.server, &mut self.all.locks[number], model);
                let (now, mode) = (model.now, model.mode);
                for model in &mut self.models {
                    model.pass(now);
                    model.mode = mode;
                }
                outcome
            }
        }
    }

    /// Compares the records, and takes the messages that the models expect.
    pub(crate) fn compare(&mut self) -> Result<(), String> {
        let mut locks = self.all.locks.iter_mut().zip(&self.models);
        locks.try_for_each(|(lock, model)| Records::read(lock).compare(model))?;
        self.hear()
    }

    fn hear(&mut self) -> Result<(), String> {
        let mut locks = self.all.locks.iter().zip(&self.models);
        locks.try_for_each(|(lock, model)| hear(&mut self.listeners, lock, model))
    }

    /// Ends a lack of memory.
    pub(crate) fn free_memory(&mut self) {
        if self.models[0].is_full() {
            limit_memory(&mut self.all.locks[0], false);
        }
    }

    /// Asserts that each listener receives this message next: no script sent more than it should.
    pub(crate) fn assert_no_more_messages(self) {
        assert_silent(&*self.server, self.listeners);
    }
}

/// Asserts that each of these listeners receives a last message next.
pub(crate) fn assert_silent(server: &dyn ScriptServer, listeners: Listeners) {
    let mut lock = RawLock::new(server, "last");
    for (who, mut listener) in listeners {
        let channel = format!("lock:{}", &owner(who)[..8]);
        let receivers: i64 = lock.command(&["PUBLISH", &channel, "last"]);
        assert_eq!((receivers, listener.next_push().as_str()), (1, "last"));
    }
}

/// Takes the messages that the model expects.
fn hear(listeners: &mut Listeners, lock: &RawLock, model: &Model) -> Result<(), String> {
    let grants = model.pushed.iter();
    let grants = grants.map(|&who| (who, owner(who) + &lock.k));
    let notices = model.told.iter();
    let notices = notices.map(|&who| (who, format!("!{}{NOTICE}{}", owner(who), lock.k)));
    for (who, expected) in grants.chain(notices) {
        let mut listeners = listeners.iter_mut();
        let (_, listener) = listeners.find(|(l, _)| *l == who).expect("it listens");
        agree("message", listener.next_push(), expected)?;
    }
    Ok(())
}

pub(crate) fn listen(server: &dyn ScriptServer) -> Listeners {
    let owners = LISTENING.chars();
    owners.map(|who| (who, Listener::of(server, who))).collect()
}

pub(crate) fn agree<T: PartialEq + std::fmt::Debug>(
    what: &str,
    server: T,
    model: T,
) -> Result<(), String> {
    if server == model {
        return Ok(());
    }
    Err(format!(
        "{what}: the server has {server:?}, the model {model:?}"
    ))
}
