//! Lock clients, all measured by the same code.
//!
//! Peers are crates that wait for a lock of one Redis server and have an async interface that works:
//!
//! - `rslock` 0.10, with its defaults and with short retries.
//!
//! Other crates were considered in November 2026, by their sources alone, and left out:
//!
//! - `async-redis-lock` 0.4 and 0.3 ask for Rust 1.89, and for a `uuid` that does, which would take
//!   the place of lock-runtime's in the same lock file. 0.2 makes a connection for each release, and
//!   blocks its thread for that.
//! - `distributed-lock-redis` 0.2 does not wait on a single server: its `acquire` tries once.
//! - `redisson` 0.1 asks redis for native TLS, which is OpenSSL on Linux; `deny.toml` forbids that.
//! - `redis-lock` 0.5 needs redis 0.27. Its lock with an acquire and a release makes a connection for
//!   each of them; its other one takes the future that it runs, and renews nothing.
//! - `rust_redlock` 0.4 blocks. So does `redlock` 2.0 between two tries, in its async function as well.

mod any;
mod ours;
pub(crate) mod raw;
mod raw_quorum;
mod rslock;

pub(crate) use any::{Any, Kind};
pub(crate) use ours::{Fenced, Ours};
pub(crate) use raw::Raw;
pub(crate) use raw_quorum::RawQuorum;

use std::time::Duration;

/// The lease of all contestants; only a crash would reach its end.
pub(crate) const TTL: Duration = Duration::from_millis(TTL_MILLIS);
pub(crate) const TTL_MILLIS: u64 = 30_000;

/// A wait that no measurement exhausts.
pub(crate) const WAIT: Duration = Duration::from_secs(120);

/// A client of locks.
pub(crate) trait Contestant: Clone + Send + Sync + 'static {
    /// A lock that is held.
    type Held: Send + 'static;

    /// Waits for the lock.
    fn acquire(&self, key: &str) -> impl Future<Output = Self::Held> + Send;

    /// Releases it, and waits until that is done.
    fn release(&self, held: Self::Held) -> impl Future<Output = ()> + Send;

    /// Waits for the lock together with its fencing token; 0 if it has none.
    fn acquire_fenced(&self, key: &str) -> impl Future<Output = (Self::Held, u64)> + Send {
        async { (self.acquire(key).await, 0) }
    }
}
