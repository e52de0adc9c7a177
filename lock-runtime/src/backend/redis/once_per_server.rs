//! Servers that a process has already checked or warned about.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A set of servers, which lasts as long as the process and grows with the servers that the process uses.
pub(super) struct OncePerServer(Mutex<BTreeSet<String>>);

impl OncePerServer {
    pub(super) const fn new() -> OncePerServer {
        OncePerServer(Mutex::new(BTreeSet::new()))
    }

    /// Records `server`; true the first time.
    pub(super) fn insert(&self, server: &str) -> bool {
        self.servers().insert(server.to_owned())
    }

    pub(super) fn contains(&self, server: &str) -> bool {
        self.servers().contains(server)
    }

    fn servers(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
