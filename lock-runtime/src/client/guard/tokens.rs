//! The fencing token of a held lock.

use std::time::Instant;

use super::LockGuard;
use crate::backend::caller::{Caller, on_this_thread};
use crate::error::LockError;
use crate::lease::fencing_token::FencingToken;

impl LockGuard {
    /// Returns the number to send along with every write; see [`FencingToken`].
    ///
    /// The first call asks the server for the token, with one command, unless the lock [came with
    /// one](FencingToken#ask-for-one), as it does after [`fenced`](crate::Acquire::fenced). Later calls send nothing.
    ///
    /// A nested guard has the token of the outermost guard. Several locks that were acquired together have one token. If
    /// the call tree held some of them before, the guard has the token of the others.
    ///
    /// # Errors
    ///
    /// `Lost` if the lock is lost before it has a token, also while this waits. `Unavailable` if the server did not answer
    /// within the [`command_timeout`](crate::LockClientBuilder::command_timeout), and `Rejected` if it refused the
    /// command; the lock is held as before, and you may ask again. `Shutdown` in a forked child.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// let client = LockClient::memory();
    /// let guard = client.lock("stock:apple").acquire().await?;
    /// let token = guard.fencing_token().await?; // before the first write
    /// assert_eq!(guard.fencing_token().await?, token);
    /// # guard.release().await }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped and created again at any time.
    pub async fn fencing_token(&self) -> Result<FencingToken, LockError> {
        self.token_for(Caller::Task, None).await
    }

    /// Like [`fencing_token`](LockGuard::fencing_token), but blocks the thread.
    ///
    /// # Errors
    ///
    /// The same as [`fencing_token`](LockGuard::fencing_token).
    pub fn fencing_token_blocking(&self) -> Result<FencingToken, LockError> {
        on_this_thread(self.token_for(Caller::Thread, None))
    }

    pub(in crate::client) async fn token_for(
        &self,
        caller: Caller,
        wait_ends: Option<Instant>,
    ) -> Result<FencingToken, LockError> {
        self.frame.lease().token(caller, wait_ends).await
    }

    /// Returns the token if the lock has one already, without asking the server; see
    /// [which locks have one](FencingToken#ask-for-one).
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// let client = LockClient::memory();
    /// let guard = client.lock("stock:apple").fenced().acquire().await?;
    /// assert!(guard.token().is_some()); // the acquisition has brought it
    /// # guard.release().await }
    /// ```
    pub fn token(&self) -> Option<FencingToken> {
        self.frame.lease().known_token()
    }
}
