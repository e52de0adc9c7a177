//! Reads the audit.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::wire::inspection::Cursor;
use crate::client::core::Core;
use crate::error::LockError;
use crate::key::LockKey;
use crate::state::AuditEntry;

/// Reads what operators did to locks, oldest first; created by [`LockClient::audit`](crate::LockClient::audit).
///
/// The servers keep about the last 10 000 entries, two per operation, in the stream `{lock:}:audit`, where `lock:` is
/// the client's prefix. A quorum's entries come node by node. A memory client keeps its entries in this process.
#[must_use = "nothing is read before `next_page`"]
pub struct Audit {
    core: Arc<Core>,
    max_age: Option<Duration>,
    key: Option<LockKey>,
    cursor: Cursor,
}

impl Audit {
    pub(super) fn new(core: Arc<Core>) -> Audit {
        Audit {
            core,
            max_age: None,
            key: None,
            cursor: Cursor::default(),
        }
    }

    /// Reads only entries that are no older than this, by the server's clock.
    pub fn max_age(mut self, age: Duration) -> Audit {
        self.max_age = Some(age);
        self
    }

    /// Reads only entries about this lock.
    pub fn key(mut self, key: impl Into<LockKey>) -> Audit {
        self.key = Some(key.into());
        self
    }

    /// Reads the next page; returns `None` after the last one.
    ///
    /// A page may be empty before the last one: a server reads 250 entries for each, whatever [`key`](Audit::key)
    /// selects. A memory client returns all its entries in one page.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `Rejected` if a permission is missing, `Shutdown` in a forked process. The call can be repeated. On a
    /// quorum, a minority of nodes that fail or refuse is skipped.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: the next call returns this page.
    ///
    /// # Examples
    ///
    /// ```
    /// # use lock_runtime::{LockClient, LockError};
    /// use lock_runtime::inspect::{AuditOutcome, Revocation};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), LockError> {
    /// let client = LockClient::memory();
    /// let guard = client.lock("import").acquire().await?;
    /// let revocation = Revocation::new("ann@ops-1", "stuck import");
    /// client.revoke("import", guard.fencing_token().await?, revocation).await?;
    ///
    /// let mut audit = client.audit().key("import");
    /// let mut outcomes = Vec::new();
    /// while let Some(page) = audit.next_page().await? {
    ///     outcomes.extend(page.into_iter().map(|entry| entry.outcome));
    /// }
    /// assert_eq!(outcomes, [AuditOutcome::Intended, AuditOutcome::Freed]);
    /// # Ok(()) }
    /// ```
    pub async fn next_page(&mut self) -> Result<Option<Vec<AuditEntry>>, LockError> {
        if self.cursor.is_over {
            return Ok(None);
        }
        let stream = self.core.audit_stream();
        let backend = &self.core.backend;
        let mut page = backend
            .lines(&stream, self.max_age, &mut self.cursor)
            .await?;
        if let Some(key) = &self.key {
            page.retain(|entry| entry.key == *key);
        }
        let is_end = page.is_empty() && self.cursor.is_over;
        Ok((!is_end).then_some(page))
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit")
            .field("max_age", &self.max_age)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
