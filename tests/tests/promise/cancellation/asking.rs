//! The kinds of locks that a caller acquires.

use std::future::Future;

use harness::{LONG, soon};
use lock_runtime::{LockClient, LockError, LockGuard};

use super::case::Outcome;
use super::world::World;

/// The kind of lock that a caller acquires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    Plain,
    /// The plain lock and its token, by one command.
    Fenced,
    Read,
    Write,
    Permit,
    /// Two locks; the second is the contended one.
    Keys,
    /// A minimum hold.
    AtLeast,
}

impl Asking {
    /// All of them except the plain lock.
    pub(crate) const MODES: [Asking; 6] = [
        Asking::Fenced,
        Asking::Read,
        Asking::Write,
        Asking::Permit,
        Asking::Keys,
        Asking::AtLeast,
    ];

    pub(crate) fn acquire(
        self,
        client: &LockClient,
        key: &str,
    ) -> impl Future<Output = Result<LockGuard, LockError>> + Send + use<> {
        let lock = client.lock(key).wait(LONG);
        match self {
            Asking::Plain => lock,
            Asking::Fenced => lock.fenced(),
            Asking::Read => lock.read(),
            Asking::Write => lock.write(),
            Asking::Permit => lock.permits(3).take(2),
            Asking::Keys => client.lock_all(self.keys(key)).wait(LONG),
            Asking::AtLeast => lock.min_hold(LONG),
        }
        .acquire()
    }

    /// The keys that it locks, given the first.
    pub(crate) fn keys(self, key: &str) -> Vec<String> {
        let mut keys = vec![key.to_owned()];
        if self == Asking::Keys {
            keys.push(format!("{key}:second"));
        }
        keys
    }

    /// The last key, whose lock another caller holds.
    pub(crate) fn contended(self, key: &str) -> String {
        self.keys(key).pop().expect("there is a key")
    }

    /// Removes the reserved lock that an acquisition may leave if it was not dropped.
    pub(crate) async fn finish(self, world: &World, key: &str, outcome: Outcome) {
        if self == Asking::AtLeast && outcome == Outcome::Ended {
            soon(world.delete_reserved(key)).await;
        }
    }
}
