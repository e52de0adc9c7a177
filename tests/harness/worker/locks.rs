//! The interface of a lock client for workers, so that the harness can also drive other libraries.

use std::future::{Future, pending};
use std::time::Duration;

use super::mode::Mode;
use super::visit::Visit;
use crate::wait;

/// A client. A failure is a string: a kind, a space, a message.
pub(crate) trait Locks: Clone + Send + Sync + 'static {
    /// A lock that is held.
    type Held: Held;

    /// The same client, whose calls from now on hold their locks so. Other kinds always hold them alone.
    fn in_mode(self, _mode: Mode) -> Self {
        self
    }

    /// How its calls hold their locks.
    fn mode(&self) -> Mode {
        Mode::Plain
    }

    /// Waits for the lock for at most `wait`.
    fn acquire(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
    ) -> impl Future<Output = Result<Self::Held, String>> + Send;

    /// The same for a lock without a token, for which the holder may ask later. Other kinds have no tokens.
    fn take(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
    ) -> impl Future<Output = Result<Self::Held, String>> + Send {
        self.acquire(key, ttl, wait)
    }

    /// The same for a lock that comes with its token. Other kinds have no tokens.
    fn acquire_fenced(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
    ) -> impl Future<Output = Result<Self::Held, String>> + Send {
        self.acquire(key, ttl, wait)
    }

    /// The same for several locks together. Other kinds have none of these.
    fn acquire_all(
        &self,
        _keys: [&str; 2],
        _ttl: Duration,
        _wait: Duration,
    ) -> impl Future<Output = Result<Self::Held, String>> + Send {
        async { Err("InvalidOptions it holds one lock at a time".to_owned()) }
    }

    /// The same for a lock that its client retains for `retain` after the release. Other kinds ignore
    /// this.
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
    ) -> impl Future<Output = Result<redis::RedisResult<bool>, String>> + Send {
        async move {
            let held = self.acquire(key, ttl, wait).await?;
            let made = visit.make(held.token()).await;
            held.release().await?;
            Ok(made)
        }
    }

    /// Ends the client.
    fn shutdown(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// A lock that is held.
pub(crate) trait Held: Send + Sync + 'static {
    /// The fencing token; 0 if the lock has none.
    fn token(&self) -> u64 {
        0
    }

    /// Asks for the token that the lock lacks.
    fn mint(&mut self) -> impl Future<Output = Result<(), String>> + Send {
        async { Ok(()) }
    }

    /// Whether the client still considers it held.
    fn is_valid(&self) -> bool;

    /// Runs a body that blocks its thread for a time, and then awaits for ever.
    fn stall(&self, time: Duration) -> impl Future<Output = Result<(), String>> + Send {
        async move {
            wait::block(time);
            pending().await
        }
    }

    /// Extends the lease.
    fn renew(&mut self) -> impl Future<Output = Result<(), String>> + Send;

    /// Goes on as a reader.
    fn downgrade(self) -> impl Future<Output = Result<Self, String>> + Send
    where
        Self: Sized,
    {
        async { Err("InvalidOptions it has no readers".to_owned()) }
    }

    /// Releases it.
    fn release(self) -> impl Future<Output = Result<(), String>> + Send;
}
