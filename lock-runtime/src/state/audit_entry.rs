//! A line of the audit.

use std::time::SystemTime;

use crate::FencingToken;
use crate::key::LockKey;

/// The outcome of an operation that is not carried out yet.
pub(crate) const INTENDED: &str = "intended";

/// A line of the audit: an operator's intention, or its outcome.
///
/// Other clients may also write the audit, so escape its texts wherever they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditEntry {
    /// The id of the operation, which its intention and its outcome share.
    pub operation: String,
    /// When the line was written, by the server's clock.
    pub at: SystemTime,
    /// The operator, as reported by the operator's program.
    pub by: String,
    /// The user in the program's URL, or `default`. May differ from the user that `credentials` returned.
    pub user: String,
    /// What was done: `revoke`.
    pub action: String,
    /// The key of the lock.
    pub key: LockKey,
    /// The token of the holder, if it had one.
    pub token: Option<FencingToken>,
    /// The label of the holder.
    pub label: String,
    /// The operator's reason.
    pub reason: String,
    /// `intended` before the operation; after it `freed`, `handed_off`, `changed`, `not_held` or `failed: …`. An
    /// operation that failed, or has no outcome, may still have been carried out.
    pub outcome: String,
}

impl AuditEntry {
    /// Returns the outcome in words, such as `handed to a waiter` for `handed_off`. Escape it: an outcome that this
    /// version does not know is returned as it is.
    pub fn outcome_in_words(&self) -> &str {
        match self.outcome.as_str() {
            "handed_off" => "handed to a waiter",
            "changed" => "not done, another holder had it",
            "not_held" => "not done, it was free",
            outcome => outcome,
        }
    }
}
