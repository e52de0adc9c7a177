//! What a process says once of a server.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Servers of which something was said. It grows with the servers that a process ever used.
pub(super) struct OncePerServer(Mutex<BTreeSet<String>>);

impl OncePerServer {
    pub(super) const fn new() -> OncePerServer {
        OncePerServer(Mutex::new(BTreeSet::new()))
    }

    /// Whether it is said of this server for the first time now.
    pub(super) fn first(&self, server: &str) -> bool {
        self.servers().insert(server.to_owned())
    }

    pub(super) fn was_said(&self, server: &str) -> bool {
        self.servers().contains(server)
    }

    fn servers(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
