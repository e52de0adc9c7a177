//! A server, the listeners on it, and one lock after the other.

use harness::{Listener, RawLock, RedisServer, owner};
use lock_model::server::Taken;

use super::Listeners;
use super::model::{LISTENING, Model, memory_of};
use super::records::Records;
use super::step::{Step, limit_memory};
use crate::scripts::branch::Tally;

/// What operators have holders told.
pub(super) const NOTICE: &str = "\u{1f}0192\u{1f}ann\u{1f}stuck\u{1f}";

pub(crate) struct Stage {
    pub(crate) server: RedisServer,
    /// The server compares and deletes.
    pub(crate) deletes: bool,
    listeners: Listeners,
    locks: usize,
    /// Some of the letters ask for shares.
    has_shares: bool,
}

impl Stage {
    pub(crate) fn new(has_shares: bool) -> Stage {
        let server = RedisServer::builder().own_clock().start();
        server.stop_clock();
        Stage {
            deletes: RawLock::new(&server, "order").can_delete(),
            listeners: listen(&server),
            server,
            locks: 0,
            has_shares,
        }
    }

    /// Plays `steps` with a new lock; the error says where the server and the model differ.
    pub(super) fn play(&mut self, steps: &[Step], tally: &mut Tally) -> Result<(), String> {
        self.locks += 1;
        let outcome = self.play_all(steps, tally);
        if outcome.is_err() {
            // Messages that were not read must not reach the next sequence.
            self.listeners = listen(&self.server);
        }
        limit_memory(&self.server, false);
        outcome
    }

    fn play_all(&mut self, steps: &[Step], tally: &mut Tally) -> Result<(), String> {
        let mut lock = RawLock::new(&self.server, &format!("order:{}", self.locks));
        lock.memory_of = memory_of;
        let mut model = Model::new(self.server.clock().now(), self.has_shares);
        for (number, step) in steps.iter().enumerate() {
            let before = model.clone();
            model.pushed.clear();
            model.told.clear();
            model.taken = Taken::default();
            step.play(&self.server, &mut lock, &mut model)
                .and_then(|()| Records::read(&mut lock).compare(&model))
                .and_then(|()| hear(&mut self.listeners, &lock, &model))
                .map_err(|difference| {
                    format!("step {number}, {step:?}: {difference}\nbefore: {before:#?}")
                })?;
            model.taken.iter().for_each(|branch| tally.add(branch));
        }
        Ok(())
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
pub(super) fn hear(listeners: &mut Listeners, lock: &RawLock, model: &Model) -> Result<(), String> {
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
        "{what}: the server says {server:?}, the model {model:?}"
    ))
}
