//! A client: the store that keeps the locks, and the defaults of its calls.

use std::fmt;
use std::sync::Arc;

use crate::backend::any::AnyBackend;
use crate::backend::memory::Memory;
use crate::client::acquire::Acquire;
use crate::client::core::Core;
use crate::client::shutdown_report::ShutdownReport;
use crate::config::{Limits, Options, Topology};
use crate::key::LockKey;

/// Connects to the store that keeps the locks: one server, several servers or this process.
///
/// Cheap to clone; clones are the same client.
///
/// One client per process is enough. A background thread opens its one connection to the server, so it works on any
/// runtime and without one. Each runtime that uses locks reads from that connection itself, and so does a thread that
/// blocks in a call, so a call does not change threads.
///
/// Whatever takes, uses or releases a lock has a blocking form, such as
/// [`acquire_blocking`](Acquire::acquire_blocking). The other async methods, from [`connect`](LockClient::connect) to
/// [`shutdown`](LockClient::shutdown), need no runtime either: a thread runs them in the `block_on` of any executor.
///
/// # Examples
///
/// ```no_run
/// # async fn start() -> Result<(), lock_runtime::LockError> {
/// use lock_runtime::LockClient;
///
/// LockClient::connect("redis://127.0.0.1:6379").await?.install()?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct LockClient {
    pub(super) core: Arc<Core>,
}

impl LockClient {
    /// Creates a client whose locks live in this process: for programs of one process, and for
    /// [tests](crate::docs::testing), which can make locks [busy or lost](crate::client::testing) on purpose.
    ///
    /// Clones share the store; two calls of `memory()` do not. Asynchronous calls stay on their caller's runtime
    /// and use its clock, so that paused time works. Synchronous calls use the real clock.
    pub fn memory() -> LockClient {
        LockClient::memory_like(Topology::Server)
    }

    /// Like [`memory`](LockClient::memory), but refuses what servers of this kind refuse, with the same errors: for
    /// [tests](crate::docs::testing) of a service whose locks are on a cluster or a quorum.
    ///
    /// The URL is `memory://?like=cluster` or `memory://?like=quorum`. For a quorum whose restart delay is not 60 s it
    /// is `memory://?like=quorum&restart_delay=300s`.
    ///
    /// # Examples
    ///
    /// ```
    /// use lock_runtime::{LockClient, Topology};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let client = LockClient::memory_like(Topology::Quorum);
    /// let error = client.lock("report").read().acquire().await.unwrap_err();
    /// assert!(error.to_string().contains("a quorum has no readers"));
    /// # }
    /// ```
    pub fn memory_like(topology: Topology) -> LockClient {
        let backend = AnyBackend::Memory(Memory::new());
        LockClient::new(backend, topology.into(), Options::default())
    }

    pub(super) fn new(backend: AnyBackend, limits: Limits, options: Options) -> LockClient {
        LockClient {
            core: Arc::new(Core::new(backend, limits, options)),
        }
    }

    /// Returns a call for the lock with this key. The key is checked when the call is made.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// # let client = LockClient::memory();
    /// match client.lock("report:daily").try_acquire().await? {
    ///     Some(guard) => println!("ours: {}", guard.key()),
    ///     None => println!("another process is doing it"),
    /// }
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn lock(&self, key: impl Into<LockKey>) -> Acquire {
        Acquire::new(self.core.clone(), key.into())
    }

    /// Returns a call for the locks with all of these keys: it acquires all or none, with one guard and one [fencing
    /// token](crate::FencingToken), above every earlier token of each key.
    ///
    /// Every call acquires its locks in one order, whatever the order of `keys`, so two calls never wait for each
    /// other. The call enters locks that its call tree already holds. While those are held, it acquires the others, out
    /// of that order, within `wait`. A key that is given twice is locked once. A call for more than 32 keys fails with
    /// `InvalidKey`, and a call for no key with `InvalidOptions`. While the call waits for a lock, it holds the locks
    /// that come before it. Several locks are always exclusive and never retained: [`read`](Acquire::read),
    /// [`permits`](Acquire::permits) and [`retain`](Acquire::retain) are `InvalidOptions`, and so is the call itself in
    /// [Redisson's record](crate::LockRecord::Redisson).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let (from, to) = (7, 3);
    /// let guard = client.lock_all([from, to].map(|account| format!("account:{account}"))).acquire().await?;
    /// assert!(guard.keys().eq(["account:3", "account:7"]));
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn lock_all<I>(&self, keys: I) -> Acquire
    where
        I: IntoIterator<Item: Into<LockKey>>,
    {
        Acquire::for_all(self.core.clone(), keys.into_iter().map(Into::into))
    }

    /// Shuts down the client and every call for its locks. Returns what became of the locks.
    ///
    /// New and waiting acquisitions fail with `Shutdown`. Running bodies may finish within the builder's
    /// [`shutdown_grace`](crate::LockClientBuilder::shutdown_grace); after that they lose their lock. Every lock that
    /// ends is released before this returns, if the server answers within two command timeouts.
    ///
    /// The lock of a holder that cannot be stopped, such as a synchronous body or a guard that is kept, is not released
    /// while it is in use. It is no longer renewed, so it is freed when its ttl ends.
    ///
    /// Call this when a server begins to drain its requests, [not
    /// afterwards](crate::docs::cookbook#leaving-in-good-order): the grace period starts here.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the client closed and the bodies running.
    pub async fn shutdown(&self) -> ShutdownReport {
        self.core.shutdown().await
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }
}

impl fmt::Debug for LockClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockClient")
            .field("backend", &self.core.backend)
            .field("prefix", &self.core.options.prefix)
            .finish_non_exhaustive()
    }
}
