//! Simulates busy locks, lost locks, crashes and outages, and gives each test its own client, for tests of functions that
//! take locks.
//!
//! [`docs::testing`](crate::docs::testing) is the guide. Everything here but [`with_installed`] and [`deny_lock_order`]
//! works on memory clients only. It cannot take or lose a lock on a server, so it needs no feature flag. A program of
//! one process may keep its locks in memory in production; there too, [`lose`] and [`disconnect`] break locks and
//! belong in tests. Nothing here does I/O or waits, so it works with and without a runtime, and with paused time.

mod each_await;
mod process;

use std::fmt;
use std::sync::Arc;

pub use self::each_await::{LoseAtEachAwait, TriedAwaits, lose_at_each_await};
pub use self::process::{Process, process};
use crate::backend::any::AnyBackend;
use crate::backend::memory::Memory;
use crate::backend::memory::test_holder::TestHolder;
pub use crate::client::installed::{WithInstalled, with_installed};
use crate::client::lock_client::LockClient;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockKey, RecordNames};

/// Occupies a lock for `holder`: other calls wait, or find it busy and held by `holder`.
///
/// The holder constantly renews its lease, so [`retry_after`](LockError::retry_after) of each error is the
/// [ttl](crate::LockClientBuilder::ttl) of `client`.
///
/// # Errors
///
/// `Busy` if the lock is already held, even by the caller's own call tree; `InvalidKey`; `InvalidOptions` unless
/// `client` is a memory client.
///
/// # Examples
///
/// ```
/// use lock_runtime::{LockClient, LockError, distributed_lock, testing};
/// use std::time::Duration;
///
/// #[distributed_lock(key = "order:<id>", wait = "0s", client = locks)]
/// async fn ship(locks: &LockClient, id: u64) -> Result<(), LockError> {
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
/// let locks = LockClient::memory();
/// let elsewhere = testing::occupy(&locks, "order:42", "api-7")?;
/// let error = ship(&locks, 42).await.unwrap_err();
/// assert_eq!(error.holder(), Some("api-7"));
/// assert_eq!(error.retry_after(), Some(Duration::from_secs(30)));
///
/// drop(elsewhere);
/// ship(&locks, 42).await
/// # }
/// ```
pub fn occupy(
    client: &LockClient,
    key: impl Into<LockKey>,
    holder: &str,
) -> Result<Occupied, LockError> {
    let key = key.into();
    let memory = memory_with(client, &key)?;
    let test_holder = memory
        .occupy(key.as_str(), holder, client.core().options.ttl)
        .map_err(|error| error.with_key(&key))?;
    Ok(Occupied {
        key,
        memory: memory.clone(),
        test_holder,
    })
}

/// Makes the holder of a lock lose it, as if the server had lost the lock or somebody had deleted its record.
///
/// An async body is dropped at its current await, its call fails with [`Lost`](LockErrorKind::Lost), and the next
/// waiter acquires the lock. If several holders share the lock, all of them lose it.
///
/// # Errors
///
/// `InvalidOptions` if the lock has no holder that could lose it, or if `client` is not a memory client; `InvalidKey`.
///
/// # Examples
///
/// ```
/// use lock_runtime::{LockClient, LockError, distributed_lock, testing};
///
/// #[distributed_lock(key = "import", client = locks)]
/// async fn import(locks: &LockClient) -> Result<(), LockError> {
///     testing::lose(locks, "import")?; // as if it happened right now, somewhere else
///     std::future::pending().await // is dropped here
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let error = import(&LockClient::memory()).await.unwrap_err();
/// assert!(error.is_lost());
/// # }
/// ```
pub fn lose(client: &LockClient, key: impl Into<LockKey>) -> Result<(), LockError> {
    let key = key.into();
    if memory_with(client, &key)?.revoke(key.as_str()) {
        return Ok(());
    }
    Err(LockError::invalid_options("it has no holder that could lose it").with_key(&key))
}

/// Cuts a client and its clones off from their store, as if the server were down, until the returned value is dropped
/// or [reconnected](Disconnected::reconnect). If several cuts are active, the client stays cut off until every one is
/// reconnected.
///
/// - Calls fail with [`Unavailable`](LockErrorKind::Unavailable) when their `wait` is over, unless the client is
///   reconnected before that. A waiter whose turn came meanwhile has the lock if its ttl has not passed; otherwise it
///   queues again.
/// - [`renew`](crate::LockGuard::renew) fails with `Unavailable`, and a
///   [`downgrade`](crate::LockGuard::downgrade) with [`Lost`](LockErrorKind::Lost).
/// - Held locks stay held, however long the cut lasts: renewed leases in memory have no end. [`lose`] ends a lease.
/// - Bodies and guards end as if the server's answer to the release were late: the lock is free once the client is
///   reconnected.
/// - Calls that enter a lock of their own call tree are not affected.
///
/// # Errors
///
/// `InvalidOptions` unless `client` is a memory client.
///
/// # Examples
///
/// ```
/// use lock_runtime::{LockClient, LockError, distributed_lock, testing};
///
/// #[distributed_lock(key = "order:<id>", wait = "0s", client = locks)]
/// async fn ship(locks: &LockClient, id: u64) -> Result<(), LockError> {
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
/// let locks = LockClient::memory();
/// let disconnected = testing::disconnect(&locks)?;
/// assert!(ship(&locks, 42).await.unwrap_err().is_unavailable());
///
/// disconnected.reconnect();
/// ship(&locks, 42).await
/// # }
/// ```
pub fn disconnect(client: &LockClient) -> Result<Disconnected, LockError> {
    let memory = memory_of(client)?.clone();
    memory.cut();
    Ok(Disconnected { memory })
}

/// Makes a call of this client, or of a clone, fail with [`OutOfOrder`](LockErrorKind::OutOfOrder) if it waits for a
/// lock in an order that could deadlock calls in a ring. Call this before any lock is taken; it lasts as long as the
/// client.
///
/// Without this, the call goes on, and the event [`lock_order`](crate::docs::observability#events) reports the ring
/// once. The error names the functions and their places, as that event does. Works with clients of all kinds.
///
/// # Examples
///
/// ```
/// use lock_runtime::{LockClient, LockError, LockErrorKind, distributed_lock, testing};
///
/// #[distributed_lock(key = "account:<from>", client = locks)]
/// async fn transfer(locks: &LockClient, from: u64) -> Result<(), LockError> {
///     locks.lock("ledger").run(async |_| ()).await
/// }
///
/// #[distributed_lock(key = "ledger", client = locks)]
/// async fn settle(locks: &LockClient, id: u64) -> Result<(), LockError> {
///     transfer(locks, id).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
/// let locks = LockClient::memory();
/// testing::deny_lock_order(&locks);
/// transfer(&locks, 7).await?;
/// let error = settle(&locks, 7).await.unwrap_err();
/// assert_eq!(error.kind(), LockErrorKind::OutOfOrder);
/// # Ok(()) }
/// ```
pub fn deny_lock_order(client: &LockClient) {
    client.core().order.refuse_rings();
}

/// Keeps a client cut off until this is dropped; created by [`disconnect`].
#[must_use = "the client is reconnected as soon as this is dropped"]
pub struct Disconnected {
    memory: Arc<Memory>,
}

impl Disconnected {
    /// Reconnects the client, as dropping this does.
    pub fn reconnect(self) {}
}

impl Drop for Disconnected {
    fn drop(&mut self) {
        self.memory.mend();
    }
}

impl fmt::Debug for Disconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disconnected").finish_non_exhaustive()
    }
}

/// Keeps a lock occupied until this is dropped; created by [`occupy`].
#[must_use = "the lock is free again as soon as this is dropped"]
pub struct Occupied {
    key: LockKey,
    memory: Arc<Memory>,
    test_holder: TestHolder,
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.memory.vacate(self.key.as_str(), self.test_holder);
    }
}

impl fmt::Debug for Occupied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Occupied").field(&self.key).finish()
    }
}

/// Returns the store of a client, if the client may lock this key.
fn memory_with<'a>(client: &'a LockClient, key: &LockKey) -> Result<&'a Arc<Memory>, LockError> {
    RecordNames::new(&client.core().options.prefix, key).map_err(|problem| {
        LockError::new(LockErrorKind::InvalidKey)
            .with_key(key)
            .with_detail(problem.to_string())
    })?;
    memory_of(client).map_err(|error| error.with_key(key))
}

fn memory_of(client: &LockClient) -> Result<&Arc<Memory>, LockError> {
    match &client.core().backend {
        AnyBackend::Memory(memory) => Ok(memory),
        AnyBackend::Remote(_) => Err(LockError::invalid_options(
            "this works only on memory clients",
        )),
    }
}
