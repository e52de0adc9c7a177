//! Busy and lost locks on purpose, for tests of functions that take locks.
//!
//! [`docs::testing`](crate::docs::testing) is the guide. Everything here works on memory clients
//! alone: no lock on a server can be taken or lost by it, hence it needs no feature. In a program of
//! one process that keeps its locks in memory for good, [`lose`] does break a lock, for whoever has
//! the client in hand; it belongs in tests there too. Nothing here does I/O or waits, so it works with
//! and without a runtime, and with paused time.

use std::fmt;
use std::sync::Arc;

use crate::backend::any::AnyBackend;
use crate::backend::memory::{Memory, Stranger};
use crate::client::lock_client::LockClient;
use crate::error::{LockError, LockErrorKind};
use crate::key::{LockKey, RecordNames};

/// Has somebody else hold a lock: calls that want it wait, or find it busy and held by `holder`.
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
    let memory = memory_of(client, &key)?;
    let stranger = memory
        .admit(key.as_str(), holder)
        .map_err(|error| error.with_key(&key))?;
    Ok(Occupied {
        key,
        memory: memory.clone(),
        stranger,
    })
}

/// Has the holder of a lock lose it, as when a server forgets it or somebody deletes it: an async
/// body is dropped at its current await, its call fails with
/// [`Lost`](LockErrorKind::Lost), and whoever is next in line has the lock.
///
/// # Errors
///
/// `InvalidOptions` if nobody holds the lock who could lose it, or unless `client` is a memory
/// client; `InvalidKey`.
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
    if memory_of(client, &key)?.dispossess(key.as_str()) {
        return Ok(());
    }
    Err(LockError::invalid_options("nobody holds it who could lose it").with_key(&key))
}

/// A lock that somebody else holds until this is dropped; made by [`occupy`].
#[must_use = "the lock is free again as soon as this is dropped"]
pub struct Occupied {
    key: LockKey,
    memory: Arc<Memory>,
    stranger: Stranger,
}

impl Drop for Occupied {
    fn drop(&mut self) {
        self.memory.dismiss(self.key.as_str(), self.stranger);
    }
}

impl fmt::Debug for Occupied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Occupied").field(&self.key).finish()
    }
}

fn memory_of<'a>(client: &'a LockClient, key: &LockKey) -> Result<&'a Arc<Memory>, LockError> {
    RecordNames::new(&client.core().options.prefix, key).map_err(|problem| {
        LockError::new(LockErrorKind::InvalidKey)
            .with_key(key)
            .with_detail(problem.to_string())
    })?;
    match &client.core().backend {
        AnyBackend::Memory(memory) => Ok(memory),
        AnyBackend::Redis(_) => {
            Err(LockError::invalid_options("this works on memory clients alone").with_key(key))
        }
    }
}
