//! Tells whether the current call tree holds a lock.

use std::fmt::Write;

use crate::call_tree::{self, Found};
use crate::client::lock_client::LockClient;
use crate::error::LockError;
use crate::key::LockKey;

/// How a call tree must hold a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// In any mode.
    Held,
    /// Exclusively.
    Alone,
}

/// How the current call tree holds a lock.
#[derive(Debug)]
enum Grip {
    Alone,
    /// As a reader, or with permits.
    Shared,
    /// The lock was held, and is lost.
    Lost(LockError),
    None,
}

impl LockClient {
    /// Returns whether the current call tree holds the lock with this key, in any mode.
    ///
    /// Sends no command: it reads the call tree of the running body. That is the body of a locked function, async or not,
    /// of [`Acquire::run`](crate::Acquire::run) or of [`LockGuard::run`](crate::LockGuard::run); a guard alone opens no call
    /// tree. Spawned work has no locks of its spawner, unless [`in_current_hold`](crate::in_current_hold) carries them. A
    /// lost lock is not held, nor is a lock of another client.
    ///
    /// [`assert_locked!`](crate::assert_locked) panics instead.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::LockClient;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
    /// let client = LockClient::memory();
    /// client.lock("order:42").run(async |_guard| {
    ///     assert!(client.holds("order:42") && !client.holds("order:43"));
    /// }).await?;
    /// assert!(!client.holds("order:42"));
    /// # Ok(()) }
    /// ```
    pub fn holds(&self, key: impl Into<LockKey>) -> bool {
        matches!(self.grip(&key.into()), Grip::Alone | Grip::Shared)
    }

    /// Panics unless the current call tree holds the lock.
    #[track_caller]
    pub(crate) fn assert_held(&self, key: &LockKey, claim: Claim) {
        if let Some(problem) = key.problem() {
            panic!("`{key}` cannot be locked: {problem}");
        }
        match (self.grip(key), claim) {
            (Grip::Alone, _) | (Grip::Shared, Claim::Held) => (),
            (Grip::Shared, Claim::Alone) => panic!(
                "`{key}` is shared here, not locked exclusively: this call tree holds {}",
                self.locks_of_this_tree()
            ),
            (Grip::Lost(error), _) => panic!("`{key}` is no longer locked here: {error}"),
            (Grip::None, _) => panic!(
                "`{key}` is not locked here: this call tree holds {}",
                self.locks_of_this_tree()
            ),
        }
    }

    fn grip(&self, key: &LockKey) -> Grip {
        if key.problem().is_some() {
            return Grip::None;
        }
        let Found::Lock(enclosing) = call_tree::find(self.core.number, key.as_str()) else {
            return Grip::None;
        };
        // In a forked child the lease is only a copy of the parent's.
        if self.core.backend.check_process().is_err() {
            return Grip::None;
        }
        // The frame is out of the thread's call tree here: a loss that is found now is reported to subscribers.
        let frame = enclosing.frame;
        match frame.lease().loss() {
            Some(loss) => Grip::Lost(frame.lease().lost_error(loss)),
            None if frame.mode().share().is_some() => Grip::Shared,
            None => Grip::Alone,
        }
    }

    /// Lists the locks for a message, from the inside out.
    fn locks_of_this_tree(&self) -> String {
        let mut locks: Vec<String> = Vec::new();
        call_tree::for_each_hold(self.core.number, |frame| {
            let lease = frame.lease();
            let how = match (lease.is_over(), frame.mode().share()) {
                (true, _) => " (lost)",
                (false, Some(_)) => " (shared)",
                (false, None) => "",
            };
            for key in lease.keys.iter() {
                let mut lock = format!("`{key}`");
                if !locks.iter().any(|seen| seen.starts_with(&lock)) {
                    lock.write_str(how).expect("a string takes all text");
                    locks.push(lock);
                }
            }
        });
        if locks.is_empty() {
            "no lock of this client; spawned work holds none, unless `in_current_hold` carries them"
                .to_owned()
        } else {
            locks.join(", ")
        }
    }
}
