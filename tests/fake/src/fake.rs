//! A server with connections and subscribers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::connection::FakeConnection;
use crate::inbox::{Inbox, Subscription};
use crate::reply::Reply;
use crate::server::call;
use crate::state::State;
use crate::value::Bytes;

/// A handle to a server. Its clones are handles to the same one.
#[derive(Clone, Debug)]
pub struct FakeServer {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) state: State,
    /// The subscriptions, by a number that no other one has.
    pub(crate) subscriptions: BTreeMap<u64, Subscription>,
}

impl FakeServer {
    /// Starts a server whose clock stands at this time (µs since 1970).
    pub fn new(now_micros: i64) -> Self {
        let state = State {
            now: now_micros,
            ..State::default()
        };
        let shared = Shared {
            state,
            subscriptions: BTreeMap::new(),
        };
        Self {
            shared: Arc::new(Mutex::new(shared)),
        }
    }

    /// Connects to the server.
    pub fn connection(&self) -> FakeConnection {
        FakeConnection::to(self.clone())
    }

    /// Moves the clock forward.
    pub fn forward(&self, by: Duration) {
        self.state(|state| state.now += micros(by));
    }

    /// Moves the clock back.
    pub fn back(&self, by: Duration) {
        self.state(|state| state.now -= micros(by));
    }

    /// Sets whether the server refuses commands that need memory.
    pub fn set_full(&self, is_full: bool) {
        self.state(|state| state.is_full = is_full);
    }

    /// Reads or changes the state between two commands.
    pub fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.shared().state)
    }

    /// Subscribes to a channel with `SUBSCRIBE`, or to those of a pattern with `PSUBSCRIBE`, until the inbox is dropped.
    ///
    /// # Panics
    ///
    /// If the command is neither, or the pattern has other wildcards than `*` and `?`.
    pub fn listen(&self, command: &str, channel: &str) -> Inbox {
        Inbox::open(self.clone(), Subscription::new(command, channel))
    }

    /// Runs a command, and delivers its messages.
    pub(crate) fn call(&self, words: &[Bytes]) -> Reply {
        let mut shared = self.shared();
        let reply = call(&mut shared.state, words);
        for message in std::mem::take(&mut shared.state.published) {
            for subscription in shared.subscriptions.values_mut() {
                subscription.deliver(&message);
            }
        }
        reply
    }

    /// A test that panics between two commands leaves nothing half done.
    pub(crate) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).expect("a span of a test is short")
}
