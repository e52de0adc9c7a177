//! A server, one lock on it, and the processes that use it.

use std::time::Duration;

use harness::{KEY, PATIENCE, RawLock, RedisServer, Worker, wait_until};

/// The server and the lock of the processes.
pub(crate) struct Scene {
    pub(crate) server: RedisServer,
    pub(crate) lock: RawLock,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let server = RedisServer::start();
        let lock = RawLock::new(&server, KEY);
        Self { server, lock }
    }

    /// One more process.
    pub(crate) fn worker(&self) -> Worker {
        let (locks, resource) = (self.server.url(), self.server.admin_url());
        Worker::spawn(env!("CARGO_BIN_EXE_lock-worker"), &[&locks, &resource])
    }

    /// A process that holds the lock.
    pub(crate) fn holder(&self, ttl: Duration) -> Worker {
        let mut worker = self.worker();
        is_held(&worker.ask(&acquire(ttl), PATIENCE));
        worker
    }

    /// A process that waits for the lock, at the tail of the queue.
    pub(crate) fn waiter(&mut self, ttl: Duration) -> Worker {
        let mut worker = self.worker();
        let before = self.lock.queue().len();
        worker.send(&acquire(ttl));
        wait_until("waiter in the queue", PATIENCE, || {
            self.lock.queue().len() == before + 1
        });
        worker
    }
}

/// The command that waits for the lock for as long as a test may take.
pub(crate) fn acquire(ttl: Duration) -> String {
    acquire_within(ttl, PATIENCE)
}

/// The command that waits for the lock for this long.
pub(crate) fn acquire_within(ttl: Duration, wait: Duration) -> String {
    format!("acquire {KEY} {} {}", ttl.as_millis(), wait.as_millis())
}

/// Asserts that an `acquire` was answered with the lock.
#[track_caller]
pub(crate) fn is_held(answer: &str) {
    assert!(answer.starts_with("held "), "not held: {answer}");
}
