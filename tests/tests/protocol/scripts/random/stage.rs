//! A server, the listeners on it, and one lock after the other.

use harness::{Listener, RawLock, RedisServer, owner};
use redis::Connection;

use super::Listeners;
use super::model::{LISTENING, Model, memory_of};
use super::records::Records;
use super::step::Step;
use crate::scripts::NOTICE;
use crate::scripts::branch::Tally;
use crate::scripts::transcript::{Pooled, pooled};

pub(crate) struct Stage {
    pub(crate) server: Pooled,
    /// The server compares and deletes.
    pub(crate) deletes: bool,
    listeners: Listeners,
    locks: usize,
    /// Some of the letters ask for shares.
    has_shares: bool,
}

impl Stage {
    pub(crate) fn new(has_shares: bool) -> Stage {
        Stage::on(pooled(), has_shares)
    }

    pub(crate) fn on(server: Pooled, has_shares: bool) -> Stage {
        Stage {
            deletes: RawLock::new(&server, "order").can_delete(),
            listeners: listen(&server),
            server,
            locks: 0,
            has_shares,
        }
    }

    /// Plays `steps` with a new lock; the error describes where the server and the model differ.
    pub(crate) fn play(&mut self, steps: &[Step], tally: &mut Tally) -> Result<(), String> {
        let outcome = self.play_all(steps, tally);
        if outcome.is_err() {
            // Messages that were not read must not reach the next sequence.
            self.listeners = listen(&self.server);
        }
        self.server.config_set("maxmemory", "0");
        outcome
    }

    fn play_all(&mut self, steps: &[Step], tally: &mut Tally) -> Result<(), String> {
        let (mut lock, mut model) = self.scene();
        for (number, step) in steps.iter().enumerate() {
            let before = model.clone();
            let outcome = self.step(*step, &mut lock, &mut model, tally);
            outcome.map_err(|difference| {
                format!("step {number}, {step:?}: {difference}\nbefore: {before:#?}")
            })?;
        }
        Ok(())
    }

    /// A lock without any records, and its model.
    pub(crate) fn scene(&mut self) -> (RawLock, Model) {
        self.scene_on(self.server.connection())
    }

    /// The same, on a connection that is used already.
    pub(crate) fn scene_on(&mut self, connection: Connection) -> (RawLock, Model) {
        self.locks += 1;
        let mut lock = RawLock::on(connection, &format!("order:{}", self.locks));
        lock.memory_of = memory_of;
        let model = Model::new(self.server.clock().now(), self.has_shares);
        (lock, model)
    }

    /// Plays the steps that lead to a state, without looking at the records.
    pub(crate) fn prepare(
        &mut self,
        steps: impl IntoIterator<Item = Step>,
        lock: &mut RawLock,
        model: &mut Model,
    ) -> Result<(), String> {
        for step in steps {
            model.begin();
            step.play(&self.server, lock, model)?;
            hear(&mut self.listeners, lock, model)?;
        }
        model.begin();
        Ok(())
    }

    /// Plays one step; afterwards the server and the model must agree.
    pub(crate) fn step(
        &mut self,
        step: Step,
        lock: &mut RawLock,
        model: &mut Model,
        tally: &mut Tally,
    ) -> Result<(), String> {
        model.begin();
        step.play(&self.server, lock, model)?;
        self.compare(lock, model)?;
        model.taken.iter().for_each(|branch| tally.add(branch));
        Ok(())
    }

    /// Compares the records, and takes the messages that the model expects.
    pub(crate) fn compare(&mut self, lock: &mut RawLock, model: &Model) -> Result<(), String> {
        Records::read(lock).compare(model)?;
        hear(&mut self.listeners, lock, model)
    }

    /// Asserts that each listener receives this message next: no script sent more than it should.
    pub(crate) fn assert_no_more_messages(self) {
        assert_silent(&self.server, self.listeners);
    }
}

/// Asserts that each of these listeners receives a last message next.
pub(crate) fn assert_silent(server: &RedisServer, listeners: Listeners) {
    let mut lock = RawLock::new(server, "last");
    for (who, mut listener) in listeners {
        let channel = format!("lock:{}", &owner(who)[..8]);
        let receivers: i64 = lock.command(&["PUBLISH", &channel, "last"]);
        assert_eq!((receivers, listener.next_push().as_str()), (1, "last"));
    }
}

/// Takes the pushes that the model expects.
pub(crate) fn hear(listeners: &mut Listeners, lock: &RawLock, model: &Model) -> Result<(), String> {
    for who in &model.pushed {
        let mut listeners = listeners.iter_mut();
        let (_, listener) = listeners.find(|(l, _)| l == who).expect("it listens");
        agree("push", listener.next_push(), owner(*who) + &lock.k)?;
    }
    for who in &model.told {
        let mut listeners = listeners.iter_mut();
        let (_, listener) = listeners.find(|(l, _)| l == who).expect("it listens");
        let expected = format!("!{}{NOTICE}{}", owner(*who), lock.k);
        agree("notice", listener.next_push(), expected)?;
    }
    Ok(())
}

pub(crate) fn listen(server: &RedisServer) -> Listeners {
    let owners = LISTENING.chars();
    owners
        .map(|who| (who, Listener::new(server, who)))
        .collect()
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
