//! A client's operations for operators.

use std::time::{Duration, Instant};

use crate::client::audit::Audit;
use crate::client::lock_client::LockClient;
use crate::client::lock_watch::Watch;
use crate::client::locks::Locks;
use crate::client::revoking;
use crate::error::LockError;
use crate::key::LockKey;
use crate::state::{HolderRef, LocalHold, LockState, Revocation, Revoked, Run, ServerAnswers};

/// Operations; the types that they return are in [`inspect`](crate::inspect).
impl LockClient {
    /// Makes a round trip to the server, and returns how long the answer took. Suitable for a readiness probe.
    ///
    /// Connects if there is no connection. In a cluster this asks each primary; in a quorum a majority must answer. A
    /// memory client answers at once.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the server does not answer within the command timeout, `Rejected` if it refuses the user or cannot
    /// keep locks, `Shutdown` in a forked process.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing but a connection behind.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// # use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// let client = LockClient::memory();
    /// assert!(client.ping().await? < Duration::from_secs(1));
    /// # Ok(()) }
    /// ```
    pub async fn ping(&self) -> Result<Duration, LockError> {
        let began = Instant::now();
        self.core.backend.probe().await?;
        Ok(began.elapsed())
    }

    /// Returns a lock as it is now: its holders, and the clients that wait for it. Writes nothing.
    ///
    /// The state is a consistent snapshot of the server, which may have changed by the time it arrives. A quorum's
    /// nodes are asked concurrently, and the lock is held if a majority has the same owner. [`votes`](LockState::votes)
    /// also counts a minority's records.
    ///
    /// # Errors
    ///
    /// `InvalidKey`, `Unavailable`, `Rejected` if a permission is missing, `Shutdown` in a forked process.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// let client = LockClient::memory();
    /// assert!(!client.inspect("order:42").await?.is_held());
    /// # Ok(()) }
    /// ```
    pub async fn inspect(&self, key: impl Into<LockKey>) -> Result<LockState, LockError> {
        let key = key.into();
        let names = self.core.names_of(&key)?;
        let inspected = self.core.backend.inspect(&key, &names).await;
        let (state, _) = inspected.map_err(|error| error.with_key(&key))?;
        Ok(state)
    }

    /// Watches who holds a lock.
    ///
    /// # Examples
    ///
    /// [`Watch::changed`] has one.
    pub fn watch(&self, key: impl Into<LockKey>) -> Watch {
        Watch::new(self.core.clone(), key.into())
    }

    /// Returns the last runs of a lock whose calls [record](crate::Acquire::runs) them, the last one first: as many as
    /// the last call keeps. Writes nothing.
    ///
    /// A run without an end is [running](crate::inspect::RunOutcome::Running) as long as it holds the lock, and
    /// [died](crate::inspect::RunOutcome::Died) afterwards. If a process crashes, the lock lasts until its ttl is over,
    /// and so does the run. Times are the server's.
    ///
    /// # Errors
    ///
    /// `InvalidKey`, `Unavailable`, `Rejected` if a permission is missing, `Shutdown` in a forked process, and
    /// `InvalidOptions` on a quorum.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// let client = LockClient::memory();
    /// let job = client.lock("report:hourly").runs(20);
    /// drop(job.acquire().await?);
    /// for run in client.runs("report:hourly").await? {
    ///     println!("{run}");
    ///     assert_eq!(run.outcome.as_str(), "cancelled");
    /// }
    /// # Ok(()) }
    /// ```
    pub async fn runs(&self, key: impl Into<LockKey>) -> Result<Vec<Run>, LockError> {
        let key = key.into();
        let names = self.core.names_of(&key)?;
        let possible = self.core.limits.require("run history");
        possible.map_err(|error| error.with_key(&key))?;
        let runs = self.core.backend.runs(&key, &names).await;
        runs.map_err(|error| error.with_key(&key))
    }

    /// Lists the locks that anyone holds, page by page.
    pub fn locks(&self) -> Locks {
        Locks::new(self.core.clone())
    }

    /// Returns the locks that callers of this client hold now, in no particular order. Asks no server.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// let client = LockClient::memory();
    /// let guard = client.lock("order:42").acquire().await?;
    /// assert_eq!(client.held()[0].token, Some(guard.fencing_token().await?));
    /// # Ok(()) }
    /// ```
    pub fn held(&self) -> Vec<LocalHold> {
        self.core.backend.held()
    }

    /// Takes a lock from its holder, and hands it off to the next waiter, if there is one.
    ///
    /// `holder` identifies the holder that an operator saw: a [`reference`](crate::inspect::Holder::reference), or a
    /// token. If the lock has another holder by now, this does nothing. The next holder's [fencing
    /// token](crate::FencingToken) is above the former holder's.
    ///
    /// **The former holder may write until it notices.** A holder that uses this crate is notified and stops at once:
    /// its call fails with `Lost`, and the error names the operator and the reason. If the message does not arrive, or
    /// its locks are in [Redisson's record](crate::LockRecord::Redisson), it notices at its next renewal, within a
    /// third of its ttl. A paused holder notices when it resumes. Only a resource that compares tokens is safe.
    ///
    /// Readers and permits share one token, so a revocation takes the lock from all of them. If a call holds several
    /// locks, the revocation of one ends the whole call. On a quorum this takes the lock on all nodes that answer; if
    /// the former holder could still have a majority, this fails, and you can call it again.
    ///
    /// The [audit](LockClient::audit) records the intention before the revocation, and the outcome after it. If the
    /// intention cannot be written, nothing is done, unless the revocation is [without
    /// audit](Revocation::without_audit).
    ///
    /// # Errors
    ///
    /// `InvalidKey`; `Unavailable`, in which case an unanswered command may have been carried out, so look again;
    /// `Rejected` if a permission is missing, or one of the lock's other records has the wrong type; `Shutdown` in a
    /// forked process.
    ///
    /// # Cancel safety
    ///
    /// Once the future has been polled, the revocation completes in the background even if the future is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use lock_runtime::LockClient;
    /// use lock_runtime::inspect::{Revocation, Revoked};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// let guard = client.lock("import").acquire().await?;
    ///
    /// let state = client.inspect("import").await?;
    /// let holder = state.holders[0].reference.expect("a lock of this crate can be revoked");
    /// let revocation = Revocation::new("ann@ops-1", "stuck import");
    /// let Revoked::Done(receipt) = client.revoke("import", holder, revocation).await? else {
    ///     panic!("it has another holder");
    /// };
    /// assert!(!receipt.handed_off);
    ///
    /// let lost = guard.release().await.unwrap_err();
    /// assert!(lost.is_lost() && lost.to_string().contains("revoked by ann@ops-1: stuck import"));
    /// # Ok(()) }
    /// ```
    pub async fn revoke(
        &self,
        key: impl Into<LockKey>,
        holder: impl Into<HolderRef>,
        revocation: Revocation,
    ) -> Result<Revoked, LockError> {
        let (core, key, holder) = (self.core.clone(), key.into(), holder.into());
        let revoking = revoking::revoke(core, key.clone(), holder, revocation);
        let revoked = self.core.backend.run_to_end(revoking).await;
        revoked.map_err(|error| error.with_key(&key))
    }

    /// Sends commands to each server, in a cluster to all primaries, or to the server of this name. For `lockctl
    /// doctor`; not a stable interface.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the servers cannot be listed, `Shutdown` in a forked process. The failure of a single server is
    /// in that server's answers.
    #[doc(hidden)]
    pub async fn ask_servers(
        &self,
        server: Option<&str>,
        commands: &[Vec<String>],
    ) -> Result<Vec<ServerAnswers>, LockError> {
        self.core.backend.ask_servers(server, commands).await
    }

    /// Reads the audit: what operators did to locks of this prefix.
    pub fn audit(&self) -> Audit {
        Audit::new(self.core.clone())
    }
}
