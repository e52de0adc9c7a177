//! What a worker needs of a client of locks, so that the rig can drive other kinds than ours.

use std::future::Future;
use std::time::Duration;

use super::visit::Visit;

/// A client. Failures are its own words: a kind, a space, a message.
pub(crate) trait Locks: Clone + Send + Sync + 'static {
    /// A lock that is held.
    type Held: Held;

    /// Waits for the lock for at most `wait`.
    fn acquire(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
    ) -> impl Future<Output = Result<Self::Held, String>> + Send;

    /// The same for a lock that stays with its client for `retain` after its release. Other kinds know no
    /// such thing.
    fn acquire_retained(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
        _retain: Duration,
    ) -> impl Future<Output = Result<Self::Held, String>> + Send {
        self.acquire(key, ttl, wait)
    }

    /// One visit under the lock, as a service would make it. The inner failure is the resource's.
    fn run(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
        visit: Visit,
    ) -> impl Future<Output = Result<redis::RedisResult<bool>, String>> + Send;

    /// Ends the client.
    fn shutdown(&self) -> impl Future<Output = ()> + Send;
}

/// A lock that is held.
pub(crate) trait Held: Send + Sync + 'static {
    /// What a fenced resource is shown; 0 where there is no such thing.
    fn token(&self) -> u64;

    /// Whether the client still believes in it.
    fn is_valid(&self) -> bool;

    /// Runs a body that blocks its thread for so long, and then awaits for ever.
    fn stall(&self, time: Duration) -> impl Future<Output = Result<(), String>> + Send;

    /// Extends the lease.
    fn renew(&mut self) -> impl Future<Output = Result<(), String>> + Send;

    /// Gives it back.
    fn release(self) -> impl Future<Output = Result<(), String>> + Send;
}
