//! Busy and lost locks and outages on purpose, and a client for each test, for tests of functions that take locks.
//!
//! [`docs::testing`](crate::docs::testing) is the guide. Everything here but [`with_installed`] and [`deny_lock_order`] works
//! on memory clients alone: no lock on a server can be taken or lost by it, hence it needs no feature. A program of one process may
//! keep its locks in memory for good; there too, [`lose`] and [`disconnect`] break locks and belong in tests. Nothing here does I/O or
//! waits, so it works with and without a runtime, and with paused time.

use std::fmt;
use std::sync::Arc;

use crate::backend::any::AnyBackend;
use crate::backend::memory::Memory;
use crate::backend::memory::test_holder::TestHolder;
pub use crate::client::installed::{WithInstalled, with_installed};
use crate::client::lock_client::LockClient;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockKey, RecordNames};

/// Occupies a lock for `holder`: calls for it wait, or find it busy and held by `holder`.
///
/// The holder renews its lease all the time, so [`retry_after`](LockError::retry_after) of each error is the
/// [ttl](crate::LockClientBuilder::ttl) of `client`.
///
/// # Errors
///
/// `Busy` if the lock is held already, also by the caller's own call tree; `InvalidKey`;
/// `InvalidOptions` unless `client` is a memory client.
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

/// Makes the holder of a lock lose it, as when a server forgets the lock or its record is deleted. An async
/// body is dropped at its current await, its call fails with [`Lost`](LockErrorKind::Lost), and the next
/// waiter has the lock. If several holders share the lock, all of them lose it.
///
/// # Errors
///
/// `InvalidOptions` if the lock has no holder that could lose it, or unless `client` is a memory client;
/// `InvalidKey`.
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

/// Cuts a client and its clones off from their store, as when a server is away, until the returned value is dropped or
/// [reconnected](Disconnected::reconnect). Of several cuts, all must be.
///
/// - Calls fail with [`Unavailable`](LockErrorKind::Unavailable) when their `wait` is over. Those that are reconnected before
///   go on. A waiter whose turn came meanwhile has the lock if that is within its ttl, and queues anew if not.
/// - [`renew`](crate::LockGuard::renew) fails with `Unavailable`, and a
///   [`downgrade`](crate::LockGuard::downgrade) with [`Lost`](LockErrorKind::Lost).
/// - Held locks stay held, however long it lasts: leases that are renewed in memory have no end. [`lose`] ends one.
/// - Bodies and guards end as if the answer to their release were late: the lock is free once the client is reconnected.
/// - Calls that the call tree's own lock serves notice nothing.
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

/// Makes a call of this client, or of a clone, fail as [`OutOfOrder`](LockErrorKind::OutOfOrder) if it waits for a lock in
/// an order by which calls can wait for each other in a ring. Call it before the locks are taken; it lasts as long as the
/// client.
///
/// Without this, the call goes on, and the ring is reported once: by the event
/// [`lock_order`](crate::docs::observability#events). The error has the functions and their places, as that event has.
/// Works with clients of all kinds.
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

/// A client that is cut off until this is dropped; made by [`disconnect`].
#[must_use = "the client is reconnected as soon as this is dropped"]
pub struct Disconnected {
    memory: Arc<Memory>,
}

impl Disconnected {
    /// Reconnects the client, as a drop does.
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

/// A lock that is occupied until this is dropped; made by [`occupy`].
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

/// The store of a client that may lock this key.
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
            "this works on memory clients alone",
        )),
    }
}
