//! Processes of a round that share its lock.

use std::time::{Duration, Instant};

use super::round::Round;
use super::site::Site;
use super::violation::Kind;
use crate::wait::PATIENCE;
use crate::worker::Worker;

impl<S: Site> Round<'_, S> {
    /// A process that holds its locks in this mode, such as `read` or `permits 3`.
    pub fn worker_in(&self, mode: &str) -> Worker {
        let mut worker = self.worker();
        worker.ask_mode(mode);
        worker
    }

    /// A process that holds the lock in this mode; if it is a share, the first one.
    pub fn holder_in(&mut self, mode: &str, ttl: Duration) -> Worker {
        let worker = self.worker_in(mode);
        self.hold(worker, ttl)
    }

    /// A process that shares the lock with its holder.
    pub fn sharer_in(&mut self, mode: &str, ttl: Duration) -> Worker {
        let mut worker = self.worker_in(mode);
        self.ask(&mut worker, ttl, PATIENCE);
        self.joined(&worker);
        worker
    }

    /// A process that waits for the lock in this mode, behind all other waiters.
    pub fn waiter_in(&mut self, mode: &str, ttl: Duration) -> Worker {
        let worker = self.worker_in(mode);
        self.queued(worker, ttl, PATIENCE)
    }

    /// The token of a further share in the phase of the last grant: the same one.
    #[track_caller]
    pub fn joined(&mut self, worker: &Worker) -> u64 {
        let token = self.token(worker);
        let last = self.granted;
        if last.is_some_and(|last| last != token) {
            let what = format!("{token} granted beside {last:?}");
            self.violate(Kind::TokenOrder, what);
        }
        token
    }

    /// Like [`joined`](Self::joined), within the time limit of
    /// [`granted_next`](Self::granted_next).
    #[track_caller]
    pub fn joined_next(&mut self, worker: &Worker, since: Instant, limit: Duration) -> u64 {
        let token = self.joined(worker);
        self.time_of_grant(since, limit);
        token
    }
}
