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
//! locks; [`Acquire`] acquires one without the attribute, [`LockGuard`] is a lock that is held, [`LockError`] gives the
//! reason why a lock was not acquired. [`docs`] is the guide: a [cookbook](docs::cookbook), how to
//! [test](docs::testing) functions that take locks, what they [report](docs::observability) to operators,
//! and what differs from [other locks](docs::coming_from). [`inspect`] shows locks and their waiters, and takes a lock from
//! its holder.
//!
//! # The contract
//!
//! 1. **The body never starts without the lock.** Busy, unreachable, misconfigured: an error, or
//!    the declared alternative, never an unlocked body.
//! 2. **`Ok` means held throughout**: from before the first statement of the body until after its
//!    last, the deadline (line 3) had not passed and nothing disproved it. If the server answers
//!    the release with "not yours", the call fails with `Lost`; if it does not answer in time, the
//!    deadline decides, and the release goes on in the background. The body's own `Err` is
//!    returned as it is.
//! 3. **The holder gives up before the server does.** The deadline counts from before the confirmed
//!    request was sent, less 1 % of the ttl and 2 ms, on a clock that runs on while the machine
//!    sleeps. When it passes, an async body is dropped at its current await and the call fails
//!    with `Lost`. A sync body runs to its end, then the call fails with `Lost`.
//! 4. **Only the owner releases**: 132 random bits for each acquisition, compared by the server.
//! 5. **A crashed holder frees the lock** when its ttl ends. The next waiter has it within a second of
//!    that. Each waiter before it that is paused, or cut off without its connection ending, takes 1.5 s more.
//!    Waiters whose connections have ended are skipped at once. A caller that arrives before the first waiter has asked
//!    again may [take the lock first](docs::faults#who-comes-after-a-crash).
//! 6. **A renewal only compares and extends.** It never re-creates a lock that is gone and never
//!    shortens a lease. (A node of a quorum that lost its record gets it again while a majority has the lock.)
//! 7. **Fencing tokens rise in the order of holding** among the holders of a key that ask for one, also across restarts
//!    without persistence, and across failover while server clocks do not run behind the last
//!    token. A holder that has lost the lock no longer gets one. Readers, or holders of permits, that are inside
//!    together have one token; one that joins them after a failover may have a lower token than a writer that the new
//!    server does not know of.
//! 8. **Busy is not broken.** Contention, outage, loss, refusal and misuse are different kinds of errors;
//!    see [`LockErrorKind`].
//! 9. **`wait` bounds everything**: connecting, queueing and I/O take no longer than `wait` and one
//!    attempt (1 s). `wait = "0s"` and `try_acquire` make one attempt.
//! 10. **Dropping is safe everywhere.** An acquire dropped at any await leaves no key and no queue
//!     entry; a dropped guard is released, also by a panic, a cancellation or a runtime that shuts
//!     down. A process that exits right after leaves the lock to its ttl.
//! 11. **Different arguments never share a key by accident**: values are escaped, separators are
//!     checked.
//!
//! # What is not promised
//!
//! A lease cannot keep every holder from finishing a write: not a process that is paused beyond its ttl
//! (SIGSTOP, a frozen virtual machine), a sync body, or a poll that blocks. A lease does not survive an
//! asynchronous failover, a restart without persistence, an eviction, or a step of the server's clock that
//! lost the key. A [fencing token](FencingToken), sent along with every write, protects the resource in these cases.
//! [`docs::faults`] lists every fault, and the test that makes it happen.
//!
//! Work that the body spawned, and transactions that the caller commits later, are outside the lock.
//! Waiters are served in order between clients, and inside a client. A client that has the lock may serve
//! up to sixteen of its own callers in a row ([`local_turns`](LockClientBuilder::local_turns)). If a lock becomes free
//! without a release, since its holder crashed or the key was deleted, a new caller may take it before the waiters have
//! asked again. Clients of other kinds that poll for the same key may starve while ours queue. Their releases send no message: ours
//! then find the lock free by polling, about five times a second.
//!
//! # Where the locks are
//!
//! - `redis://host`: on a Redis or Valkey server.
//! - `rediss://host`: there too, over TLS; needs the feature `tls`.
//! - `redis-sentinel://host,host#name`: on the primary `name`, as these sentinels name it; likewise `rediss-sentinel://`.
//! - `redis+unix:///path`: on a server of this machine, over a unix socket.
//! - `redis-cluster://host,host`: on a cluster; one node that answers is enough to find the others.
//! - `redlock://host,host,host`: on a [majority](docs::quorum) of these servers; likewise `redlocks://`.
//! - `memory://`: in this process.
//! - `memory://?like=cluster`, `?like=quorum`: there too, with the
//!   [options](docs::topologies#which-options-work-where) of a cluster or a quorum only, for tests.
//!
//! A host may have a port, 6379 unless it is named, or 26379 for a sentinel. `user:password@` stands before the first
//! host, and `/database` after the last: `redis://user:password@host:6379/0`. A socket has them as parameters,
//! `?db=0&user=…&pass=…`. The parameter of a quorum is `restart_delay=60s`.
//!
//! In a user, a password or a parameter, write `@` as `%40`, `/` as `%2F`, `?` as `%3F`, `#` as `%23`, `,` as `%2C`, `&` as
//! `%26`, `%` as `%25` and a space as `%20`; in a user also `:` as `%3A`. A URL that could be read in two ways is refused,
//! so that no part of a password is taken for a host, which would be looked up, logged and shown. Errors contain no
//! user or password of a URL. These are refused as well: a `%` that is not followed by two hexadecimal digits, a
//! parameter that is unknown or given twice, port 0, and a quorum with a login for all nodes and another for some of
//! them. White space around a URL does not count, such as the line feed at the end of a file, and a scheme may be in
//! capital letters.
//!
//! `valkey://` is another name for `redis://`, `valkeys://` for `rediss://`, and `valkey+unix://` and
//! `unix://` for `redis+unix://`; a cluster over TLS is `rediss-cluster://`. Likewise `valkey-cluster://`,
//! `valkey-sentinel://` and `valkeys-sentinel://`. A server that is not what the URL says, such as a replica, or a Sentinel
//! or a node of a cluster where the URL says one server, is recognised and refused. [`LockClient::connect`] says more of
//! them, [`LockClientBuilder`] has the
//! certificates for TLS, and [credentials](LockClientBuilder::credentials) in place of a password in the URL.
//!
//! A URL of sentinels takes these parameters, after `?` and separated by `&`:
//!
//! - `sentinel_user` and `sentinel_password`, the login at the sentinels. That before the `@` is for the primary.
//! - `sentinelMasterId`, another place for the name of the primary.
//! - `sentinel_tls=false`: only the primary is reached over TLS.
//!
//! All URLs but `memory://` and `redlock://` take two more: `wait_replicas=1` has one [replica](docs::topologies) acknowledge each
//! lock, and `replica_timeout=100ms`, or `1s`, is how long it may take. The builder's methods of these names say the same;
//! if the two differ, the client is not built.
//!
//! While there is a connection to a primary, the sentinels are asked for another one every half second. After a
//! failover all held locks are confirmed at once on the new primary. A failover is asynchronous: the new primary may
//! lack the last locks. Then two holders are possible until the first one learns of its loss. The
//! [fencing token](FencingToken) of the second is higher.
//!
//! # When not to use it
//!
//! If there is only one process, a mutex is enough. If the resource can refuse a stale write by itself, use a
//! version column or a unique key: they are safer than any lease. A lock is for work that must not be done
//! twice at once, where nothing downstream could detect the second time.
//!
//! # Features
//!
//! - `macros` (default): the attribute.
//! - `tls`: `rediss://` URLs, with rustls and ring. The application's own choice of a crypto provider
//!   is neither needed nor touched.
//! - `metrics`: counters, gauges and histograms; see [`docs::observability`].
//!
//! # Clients of other kinds
//!
//! The lock's record is an ordinary `SET NX PX` lock. So redis-py, redsync, rslock, node-redlock and
//! hand-written clients exclude this one and are excluded by it, given the same key with its prefix. A client with
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

pub use call_tree::{InCurrentHold, in_current_hold};
pub use client::testing;
pub use client::{Acquire, LockClient, LockClientBuilder, LockGuard};
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
#[doc = include_str!("key_part.md")]
#[doc(inline)]
pub use lock_macros::KeyPart;
