//! The outcome of a revocation.

use super::lock_state::LockState;

/// The outcome of a revocation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Revoked {
    /// The holder has the lock no more.
    Done(Receipt),
    /// Another holder has the lock, and nothing was done.
    Changed(Box<LockState>),
    /// The lock is free, and nothing was done.
    NotHeld,
}

/// What a revocation did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// The id of the operation, a UUID, as in the audit and in the event of the former holder.
    pub operation: String,
    /// The former holder in words. To be escaped, as all labels are.
    pub label: String,
    /// Whether a waiter has the lock now. Otherwise it is free.
    pub is_handed_on: bool,
    /// On how many nodes of a quorum the lock was taken from its holder; `None` where one server has it.
    pub nodes: Option<usize>,
    /// Whether the outcome is in the audit. The intention is, in any case, unless the revocation was
    /// [without](crate::inspect::Revocation::without_audit) one.
    pub is_audited: bool,
}
