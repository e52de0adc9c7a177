//! A line of the audit.

use std::time::SystemTime;

use crate::FencingToken;
use crate::key::LockKey;

/// The outcome of an operation that has not been carried out.
pub(crate) const INTENDED: &str = "intended";

/// A line of the audit: what an operator was about to do, or what came of it.
///
/// Other clients may write the audit as well, so its texts are to be escaped where they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditEntry {
    /// The id of the operation, which its intention and its outcome share.
    pub operation: String,
    /// When it was written, by the server's clock.
    pub at: SystemTime,
    /// The operator, as the operator's program says.
    pub by: String,
    /// The user that the program's URL names, or `default`. Credentials that a program asks for may be another one's.
    pub user: String,
    /// What was done: `revoke`.
    pub action: String,
    /// The key of the lock.
    pub key: LockKey,
    /// The token of the holder, if it had one.
    pub token: Option<FencingToken>,
    /// The holder, in words.
    pub label: String,
    /// The operator's reason.
    pub reason: String,
    /// `intended` before it was done. After that `freed`, `handed_off`, `changed`, `not_held`, or `failed: …`. An
    /// operation without an outcome, or one that has failed, may have been carried out.
    pub outcome: String,
}

impl AuditEntry {
    /// The outcome in words, such as `handed to a waiter` for `handed_off`. To be escaped: an outcome that this version does not
    /// know is shown as it is.
    pub fn outcome_in_words(&self) -> &str {
        match self.outcome.as_str() {
            "handed_off" => "handed to a waiter",
            "changed" => "not done, another holder had it",
            "not_held" => "not done, it was free",
            outcome => outcome,
        }
    }
}
