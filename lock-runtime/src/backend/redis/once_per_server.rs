//! Remembers the servers about which a process has already warned, or which it has checked.

use std::collections::BTreeSet;

use crate::background::sync::Mutex;

/// A set of servers, which lasts as long as the process.
pub(super) struct OncePerServer(Mutex<BTreeSet<String>>);

impl OncePerServer {
    pub(super) const fn new() -> OncePerServer {
        OncePerServer(Mutex::new(BTreeSet::new()))
    }

    /// Adds `server`. Returns `true` the first time.
    pub(super) fn insert(&self, server: &str) -> bool {
        self.0.lock().insert(server.to_owned())
    }

    pub(super) fn contains(&self, server: &str) -> bool {
        self.0.lock().contains(server)
    }
}
