//! What a client does for operators.

use std::time::{Duration, Instant};

use crate::client::audit::Audit;
use crate::client::lock_client::LockClient;
use crate::client::locks::Locks;
use crate::client::revoking;
use crate::error::LockError;
use crate::key::LockKey;
use crate::state::{HolderRef, LocalHold, LockState, Revocation, Revoked, ServerAnswers};

/// Operations: [`inspect`](crate::inspect) has what they return.
impl LockClient {
    /// A round trip to the server: how long its answer took. Fit for a readiness probe.
    ///
    /// Connects if there is no connection. In a cluster each primary is asked, and of a quorum a majority must answer.
    /// A memory client answers at once.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the server does not answer within the command timeout, `Rejected` if it refuses the user or cannot
    /// keep locks, `Shutdown` in a forked process.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind but a connection.
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

    /// A lock as it is now: its holders, and the clients that wait for it. Writes nothing.
    ///
    /// What is shown was true at one moment of the server, and may have changed by the time it arrives. On a quorum the
    /// nodes are asked side by side, and the lock is held if a majority has one owner. What a minority has is in
    /// [`votes`](LockState::votes).
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

    /// The locks that are held, by anyone, page by page.
    pub fn locks(&self) -> Locks {
        Locks::new(self.core.clone())
    }

    /// The locks that callers of this client hold now, in no order. Asks no server.
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

    /// Takes a lock from its holder, in favour of the next waiter.
    ///
    /// `seen` names the holder, as [`inspect`](LockClient::inspect) shows it: by its token, or by a
    /// [hash](crate::inspect::RecordHash) if it has none, because it asked for none or is another program. If the lock has
    /// another holder by then, nothing is done. The next holder's [fencing token](crate::FencingToken) is above the token of
    /// the former holder.
    ///
    /// **The former holder may write until it notices.** One of this crate is told by a message and stops at once: its
    /// call fails with `Lost`, and the error says by whom the lock was taken, and why. If the message does not reach it, or its
    /// locks are in [Redisson's record](crate::LockRecord::Redisson), it learns at its next renewal, a third of its ttl later. One
    /// that is paused learns when it resumes. Only a resource that compares tokens is safe.
    ///
    /// Readers and permits share one token, so a revocation takes the lock from all of them. Of several locks that are held
    /// together, one that is revoked ends the whole call. On a quorum the lock is taken on all nodes that answer; if its
    /// former holder could still have a majority, that is an error, and the call can be repeated.
    ///
    /// The [audit](LockClient::audit) has the intention before anything is done, and the outcome after that. Where the
    /// intention cannot be written nothing is done, unless the revocation is
    /// [without audit](Revocation::without_audit).
    ///
    /// # Errors
    ///
    /// `InvalidKey`; `Unavailable`, where a command that was not answered may have been carried out, so look again; `Rejected`
    /// if a permission is missing, or a record beside the lock has another type; `Shutdown` in a forked process.
    ///
    /// # Cancel safety
    ///
    /// Once it was polled, a dropped future goes on in the background to its end.
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
    /// let seen = state.holders[0].seen.expect("a lock of this crate can be revoked");
    /// let revocation = Revocation::new("ann@ops-1", "stuck import");
    /// let Revoked::Done(receipt) = client.revoke("import", seen, revocation).await? else {
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
        seen: impl Into<HolderRef>,
        revocation: Revocation,
    ) -> Result<Revoked, LockError> {
        let (core, key, seen) = (self.core.clone(), key.into(), seen.into());
        let revoking = revoking::revoke(core, key.clone(), seen, revocation);
        let revoked = self.core.backend.run_to_end(revoking).await;
        revoked.map_err(|error| error.with_key(&key))
    }

    /// Sends commands to each server: of a cluster, to all primaries; or to the one of this name. For `lockctl doctor`, and without a promise that it
    /// stays as it is.
    ///
    /// # Errors
    ///
    /// `Unavailable` if it cannot be known which servers there are, `Shutdown` in a forked process. What a single server
    /// does not answer is in its own answers.
    #[doc(hidden)]
    pub async fn ask_servers(
        &self,
        server: Option<&str>,
        commands: &[Vec<String>],
    ) -> Result<Vec<ServerAnswers>, LockError> {
        self.core.backend.ask_servers(server, commands).await
    }

    /// What operators did to locks of this prefix.
    pub fn audit(&self) -> Audit {
        Audit::new(self.core.clone())
    }
}
