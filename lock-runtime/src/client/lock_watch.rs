//! Watches who holds a lock.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::watching::question_time::{LONGEST, SHORTEST};
use crate::backend::watching::{Unseen, WatchReader};
use crate::client::core::Core;
use crate::error::LockError;
use crate::key::LockKey;
use crate::state::LockState;

/// Watches who holds a lock, such as who leads; created by [`LockClient::watch`](crate::LockClient::watch).
///
/// Asks about the lock once a second, however many watches of the lock the client has, and at once after a message that
/// the client gets about the lock anyway, because it waits for it or holds it. A question is an
/// [`inspect`](crate::LockClient::inspect). A memory client is told of each change, and asks nothing.
///
/// A change of holder that lasts longer than the interval is not missed: the client keeps the last 64 changes for a watch
/// that does not read them. Two holders are the same if a [reference](crate::inspect::Holder::reference) to one
/// identifies the other, so a lease that the callers of one client hand over among themselves on a server has one holder.
/// Readers, and holders of permits, are told apart by their numbers only.
///
/// The user needs what a [viewer](crate::docs::security#viewers-and-operators) of one lock needs: in addition to a service's
/// permissions `+multi +exec +time +getrange +strlen +pttl +zcard +zrangebyscore +zmscore`, all in what `lockctl acl` prints.
///
/// Nothing is asked before [`changed`](Watch::changed), or after the watch is dropped.
#[must_use = "nothing is asked before `changed`"]
pub struct Watch {
    core: Arc<Core>,
    key: LockKey,
    every: Duration,
    reader: Option<Arc<WatchReader>>,
}

impl Watch {
    pub(super) fn new(core: Arc<Core>, key: LockKey) -> Watch {
        Watch {
            core,
            key,
            every: Duration::from_secs(1),
            reader: None,
        }
    }

    /// Sets the time between two questions, from 100 ms to an hour. Default: 1 s. Of several watches of one lock, the
    /// shortest time counts.
    pub fn every(mut self, interval: Duration) -> Watch {
        self.every = interval;
        // A new reader is told the state again, and the old one leaves.
        self.reader = None;
        self
    }

    /// Waits until the lock has other holders than the last call returned, and returns its state. The first call returns
    /// the current state, and so does the first after an error. `None` once the client is [shut down](crate::LockClient::shutdown).
    ///
    /// # Errors
    ///
    /// The same as [`inspect`](crate::LockClient::inspect) for a question that failed, and `InvalidOptions` if
    /// [`every`](Watch::every) is out of range. The watch goes on: call this again.
    ///
    /// # Panics
    ///
    /// On a memory client inside a tokio runtime that was built without timers.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no change.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// # let client = LockClient::memory();
    /// # let leader = client.lock("leader:7").acquire().await?;
    /// let mut watch = client.watch("leader:7");
    /// while let Some(state) = watch.changed().await? {
    ///     match state.holders.first() {
    ///         Some(leader) => println!("{:?} leads", leader.label),
    ///         None => println!("nobody leads"),
    ///     }
    /// #   if !state.is_held() { break }
    /// #   client.revoke("leader:7", state.holders[0].token.unwrap(), lock_runtime::inspect::Revocation::new("a", "b")).await?;
    /// }
    /// # let _ = leader.release().await;
    /// # Ok(()) }
    /// ```
    pub async fn changed(&mut self) -> Result<Option<LockState>, LockError> {
        let backend = &self.core.backend;
        backend
            .check_process()
            .map_err(|error| error.with_key(&self.key))?;
        let reader = match &self.reader {
            Some(reader) => reader,
            None => {
                let names = self.core.names_of(&self.key)?;
                self.check_interval()?;
                self.reader
                    .insert(backend.watch(&self.key, &names, self.every)?)
            }
        };
        loop {
            match reader.take() {
                Unseen::State(state) => return state.map(Some),
                Unseen::Closed => return Ok(None),
                Unseen::Nothing => backend.watched(&self.key, reader).await,
            }
        }
    }

    fn check_interval(&self) -> Result<(), LockError> {
        if (SHORTEST..=LONGEST).contains(&self.every) {
            return Ok(());
        }
        let reason = format!(
            "the interval of a watch must be between 100 ms and 1 h, not {:?}",
            self.every
        );
        Err(LockError::invalid_options(reason).with_key(&self.key))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("key", &self.key)
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}
