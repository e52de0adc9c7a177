//! Lock clients, all measured by the same code.
//!
//! Peers are crates that wait for a lock of one Redis server and have a working async interface:
//!
//! - `rslock` 0.10, with its defaults and with short retries.
//!
//! Other crates were considered in November 2026, based only on their sources, and left out:
//!
//! - `async-redis-lock` 0.4 and 0.3 require Rust 1.89, and a `uuid` that does, which would replace
//!   lock-runtime's in the shared lock file. 0.2 opens a connection for each release, and blocks
//!   its thread for that.
//! - `distributed-lock-redis` 0.2 does not wait on a single server: its `acquire` tries once.
//! - `redisson` 0.1 enables redis's native TLS, which is OpenSSL on Linux; `deny.toml` forbids it.
//! - `redis-lock` 0.5 needs redis 0.27. Its lock with an acquire and a release opens a connection
//!   for each of them; its other lock takes a future to run, and renews nothing.
//! - `rust_redlock` 0.4 blocks. So does `redlock` 2.0 between two tries, even in its async
//!   function.

mod any;
mod ours;
pub(crate) mod raw;
mod raw_quorum;

pub(crate) use any::{Any, Kind};
pub(crate) use ours::{Fenced, Ours};
pub(crate) use raw::Raw;
pub(crate) use raw_quorum::RawQuorum;

use std::time::Duration;

/// The lease of all contestants; only a crash would outlast it.
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

    /// Releases it, and waits for the result.
    fn release(&self, held: Self::Held) -> impl Future<Output = ()> + Send;
}
