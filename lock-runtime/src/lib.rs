//! Run a function under a lock that every machine respects, on Redis or Valkey.
//!
//! ```no_run
//! use lock_runtime::{LockClient, LockError, distributed_lock};
//!
//! #[distributed_lock(key = "order:<id>", ttl = "10s", wait = "2s")]
//! async fn ship(id: u64) -> Result<(), LockError> {
//!     // No other process is here for this order.
//!     Ok(())
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), LockError> {
//!     LockClient::connect("redis://127.0.0.1:6379").await?.install()?; // once, at start-up
//!     ship(42).await
//! }
//! ```
//!
//! [`distributed_lock`] is the attribute and documents its options. [`LockClient`] connects to the store that keeps the
//! locks, [`Acquire`] acquires a lock without the attribute, [`LockGuard`] is a held lock, and [`LockError`] reports
//! why a lock was not acquired. A [`campaign`] leads for as long as the program runs. [`docs`] is the guide: a [cookbook](docs::cookbook), how to [test](docs::testing)
//! functions that take locks, what they [report](docs::observability) to operators, and how this crate differs from
//! [other locks](docs::coming_from). [`inspect`] shows locks and their waiters, and takes a lock from its holder.
//!
//! # The contract
//!
//! 1. **The body never starts without the lock.** If the lock is busy, the server is unreachable or the configuration
//!    is wrong, the call returns an error or the declared alternative. The body never runs unlocked.
//! 2. **`Ok` means held throughout**: from before the body's first statement until after its last, the deadline of line
//!    3 had not passed and nothing disproved the lease. If the server answers the release with "not yours", the call
//!    fails with `Lost`. If it does not answer in time, the deadline decides, and the release is retried in the
//!    background. The body's own `Err` is returned unchanged.
//! 3. **The holder gives up before the server does.** The deadline counts from before the confirmed request was sent,
//!    less 1 % of the ttl and 2 ms, on a clock that keeps running while the machine sleeps. When it passes, an async
//!    body is dropped at its current await and the call fails with `Lost`. A sync body runs to its end, and then the
//!    call fails with `Lost`.
//! 4. **Only the owner releases**: the server compares 132 random bits that are unique to each acquisition.
//! 5. **A crashed holder frees the lock** when its ttl ends. The next waiter acquires it within a second of that. Each
//!    earlier waiter that is paused, or cut off while its connection stays open, adds 1.5 s. Waiters whose connections
//!    have closed are skipped at once. A caller that arrives before the first waiter asks again may [take the lock
//!    first](docs::faults#who-comes-after-a-crash).
//! 6. **A renewal only compares and extends.** It never re-creates a lock that is gone and never shortens a lease. (A
//!    quorum node that lost its record gets it back while a majority has the lock.)
//! 7. **Fencing tokens rise in the order of holding** among the holders of a key that ask for one. This also holds
//!    across restarts without persistence and across failovers, as long as no server's clock is behind the last token.
//!    A holder that has lost the lock gets no token. Readers, or holders of permits, that hold the lock together share
//!    one token. A reader or permit holder that joins them after a failover may have a lower token than a writer that
//!    the new server does not know.
//! 8. **Busy is not broken.** Contention, outage, loss, refusal and misuse are distinct kinds of error; see
//!    [`LockErrorKind`].
//! 9. **`wait` bounds everything**: connecting, queueing and I/O take no longer than `wait` plus one attempt (1 s).
//!    `wait = "0s"` and `try_acquire` make one attempt.
//! 10. **Dropping is safe everywhere.** An acquire dropped at any await leaves no key and no queue entry; a guard
//!     releases its lock when it is dropped, including by a panic, a cancellation or a runtime that shuts down. If the
//!     process exits immediately afterwards, the lock is freed when its ttl expires.
//! 11. **Different arguments never share a key by accident**: values are escaped, separators are
//!     checked.
//!
//! # What is not promised
//!
//! A lease cannot stop every late write: a process that is paused beyond its ttl (SIGSTOP, a frozen virtual machine), a
//! sync body, or a poll that blocks may still finish one. A lease does not survive an asynchronous failover, a restart
//! without persistence, an eviction, or a step of the server's clock that expires the key. A [fencing
//! token](FencingToken), sent along with every write, protects the resource in these cases. [`docs::faults`] lists
//! every fault and the test that provokes it.
//!
//! Work that the body spawns, and transactions that the caller commits later, are outside the lock. Waiters are served
//! in order, both between clients and inside a client. A client that has the lock may serve up to sixteen of its own
//! callers in a row ([`local_turns`](LockClientBuilder::local_turns)). If a lock becomes free without a release,
//! because its holder crashed or the key was deleted, a new caller may take it before the waiters ask again. Clients of
//! other kinds that poll for the same key may starve while ours queue. Their releases publish no message, so ours poll
//! for the lock, about five times a second.
//!
//! # Where the locks are
//!
//! - `redis://host`: a Redis or Valkey server.
//! - `rediss://host`: the same over TLS; requires the feature `tls`.
//! - `redis-sentinel://host,host#name`: the primary that these sentinels call `name`; likewise `rediss-sentinel://`.
//! - `redis+unix:///path`: a server on this machine, over a unix socket.
//! - `redis-cluster://host,host`: a cluster; one reachable node is enough to discover the others.
//! - `redlock://host,host,host`: a [majority](docs::quorum) of these servers; likewise `redlocks://`.
//! - `memory://`: this process.
//! - `memory://?like=cluster`, `?like=quorum`: this process, limited to the
//!   [options](docs::topologies#which-options-work-where) of a cluster or a quorum, for tests.
//!
//! [`docs::urls`] has the whole grammar: ports, logins, databases, parameters, aliases, and how to write a password that
//! has an `@`. A server of another kind than the URL specifies is detected and refused, such as a replica, or a Sentinel or
//! cluster node where the URL specifies a single server; [`LockClient::connect`] has the details.
//!
//! # When not to use it
//!
//! If there is only one process, a mutex is enough. If the resource can reject a stale write by itself, use a version
//! column or a unique key: they are safer than any lease. A lock is for work that two processes must not do at the same
//! time, where nothing downstream could detect the conflict.
//!
//! # Features
//!
//! - `macros` (default): the attribute.
//! - `tls`: `rediss://` URLs, with rustls and ring. It neither needs nor changes the application's own crypto provider.
//! - `metrics`: counters, gauges and histograms; see [`docs::observability`].
//! - `redis`: [`LockClientBuilder::redis`] takes the servers of a client of redis-rs 1.
//! - `serde`: `Serialize` for what [`inspect`] returns, with [stable fields](inspect#as-json), and `Deserialize` for
//!   [`FencingToken`] and [`LockKey`](struct@LockKey).
//!
//! # Clients of other kinds
//!
//! The lock's record is an ordinary `SET NX PX` lock, so redis-py, redsync, rslock, node-redlock and hand-written
//! clients exclude this one, and it excludes them, if they use the same key with its prefix. A client with
//! [`LockRecord::Redisson`] shares locks with Java services that use Redisson's `RLock`.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::print_stdout, clippy::print_stderr)]

#[doc(hidden)]
#[path = "macro_support/mod.rs"]
pub mod __private;
mod backend;
mod background;
mod call_tree;
mod client;
mod config;
mod control;
pub mod docs;
mod error;
pub mod inspect;
mod key;
mod lease;
mod lock_order;
mod state;
mod telemetry;

#[cfg(feature = "redis")]
pub use backend::redis::RedisSettings;
pub use call_tree::{InCurrentHold, in_current_hold};
pub use client::testing;
pub use client::{
    Acquire, Campaign, Campaigning, LockClient, LockClientBuilder, LockGuard, ShutdownReport,
    Standing, campaign,
};
pub use config::credentials::Credentials;
pub use config::{LockRecord, Topology};
pub use error::{LockError, LockErrorKind};
pub use key::{KeyPart, KeyWriter, LockKey};
pub use lease::fencing_token::FencingToken;

#[cfg(feature = "macros")]
#[doc = include_str!("attribute.md")]
#[doc(inline)]
pub use lock_macros::distributed_lock;

#[cfg(feature = "macros")]
#[doc = include_str!("assert_locked.md")]
#[doc(inline)]
pub use lock_macros::assert_locked;

#[cfg(feature = "macros")]
#[doc = include_str!("key_part.md")]
#[doc(inline)]
pub use lock_macros::KeyPart;

#[cfg(feature = "macros")]
#[doc = include_str!("lock_key.md")]
#[doc(inline)]
pub use lock_macros::LockKey;
