//! A server, one lock on it, and the processes that want it.

use std::time::{Duration, Instant};

use harness::{PATIENCE, RawLock, RedisServer, Worker, wait_until};

/// The lock that all of them want.
pub(crate) const KEY: &str = "order:42";

/// The ttl of holders that are to die or to stand still.
pub(crate) const TTL: Duration = Duration::from_secs(1);

/// How long a waiter that was served has to confirm it.
pub(crate) const CLAIM: Duration = Duration::from_millis(1500);

/// What a busy machine may add to any time that is measured here.
pub(crate) const SLACK: Duration = Duration::from_secs(2);

/// Where the processes meet.
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

    /// A process that holds the lock, and its token.
    pub(crate) fn holder(&self, ttl: Duration) -> (Worker, u64) {
        let mut worker = self.worker();
        let token = token(&worker.ask(&acquire(ttl), PATIENCE));
        (worker, token)
    }

    /// A process that waits for the lock, at the tail of the queue.
    pub(crate) fn waiter(&mut self, ttl: Duration) -> Worker {
        self.waiter_within(ttl, PATIENCE)
    }

    /// A process that waits for the lock for so long, at the tail of the queue.
    pub(crate) fn waiter_within(&mut self, ttl: Duration, wait: Duration) -> Worker {
        let mut worker = self.worker();
        let before = self.lock.queue().len();
        worker.send(&acquire_within(ttl, wait));
        wait_until("waiter in the queue", PATIENCE, || {
            self.lock.queue().len() == before + 1
        });
        worker
    }

    /// Waits until the server has noticed that only so many processes are left that use locks.
    pub(crate) fn wait_for_processes(&mut self, count: usize) {
        wait_until("end of the connections", PATIENCE, || {
            // Each process listens on a channel of its own.
            let channels: Vec<String> = self.lock.command(&["PUBSUB", "CHANNELS", "lock:*"]);
            channels.len() == count
        });
    }

    /// Waits until the lease of `holder` was lengthened.
    pub(crate) fn wait_for_renewal(&mut self, holder: &Worker) {
        let mut rest = self.lock.pttl();
        wait_until("renewal", PATIENCE, || {
            let before = std::mem::replace(&mut rest, self.lock.pttl());
            rest > before
        });
        assert!(self.is_held_by(holder), "it went to somebody else");
    }

    /// The moment before which the lease that stands now cannot be over.
    pub(crate) fn lease_end(&mut self) -> Instant {
        let now = Instant::now();
        let rest = u64::try_from(self.lock.pttl()).expect("the lock has a lease");
        // PTTL is rounded to the nearest millisecond.
        now + Duration::from_millis(rest.saturating_sub(1))
    }

    /// Whether the lock's record is that of this process.
    pub(crate) fn is_held_by(&mut self, worker: &Worker) -> bool {
        let pid = format!("(pid {})", worker.pid());
        self.lock.value().is_some_and(|value| value.contains(&pid))
    }
}

/// The command that waits for the lock for as long as a test has patience.
pub(crate) fn acquire(ttl: Duration) -> String {
    acquire_within(ttl, PATIENCE)
}

/// The command that waits for the lock for so long.
pub(crate) fn acquire_within(ttl: Duration, wait: Duration) -> String {
    format!("acquire {KEY} {} {}", ttl.as_millis(), wait.as_millis())
}

/// The token of an answered `acquire`.
#[track_caller]
pub(crate) fn token(answer: &str) -> u64 {
    match answer.strip_prefix("held ").map(str::parse) {
        Some(Ok(token)) => token,
        _ => panic!("not held: {answer}"),
    }
}

/// The token of a waiter that is served within `limit`.
#[track_caller]
pub(crate) fn served(worker: &Worker, limit: Duration) -> u64 {
    match worker.line(limit) {
        Some(answer) => token(&answer),
        None => panic!("not served within {limit:?}"),
    }
}
