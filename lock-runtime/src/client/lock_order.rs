//! The order in which the calls of a client take locks, shared by its threads.

use crate::background::fork::Origin;
use crate::background::sync::Mutex;
use crate::lock_order::Graph;

/// The order in which the calls of a client take locks.
#[derive(Debug)]
pub(crate) struct LockOrder {
    origin: Origin,
    graph: Mutex<Graph>,
}

impl LockOrder {
    pub(crate) fn new() -> LockOrder {
        LockOrder {
            origin: Origin::here(),
            graph: Mutex::default(),
        }
    }

    /// Refuses calls that close a ring, from now on.
    pub(crate) fn refuse_rings(&self) {
        self.with(Graph::refuse_rings);
    }

    /// Calls `visit` with the graph. Returns `None` in a child that was forked while another thread used the graph; no
    /// lock can be acquired there.
    pub(crate) fn with<T>(&self, visit: impl FnOnce(&mut Graph) -> T) -> Option<T> {
        let mut graph = self.graph.lock_unless_forked(&self.origin)?;
        Some(visit(&mut graph))
    }
}
