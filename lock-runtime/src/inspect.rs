//! Locks as operators see them: who holds them, who waits, and how to take one away.
//!
//! [`LockClient::inspect`](crate::LockClient::inspect) shows one lock, [`LockClient::locks`](crate::LockClient::locks)
//! lists all held locks, [`LockClient::held`](crate::LockClient::held) returns the locks that this client holds, and
//! [`LockClient::ping`](crate::LockClient::ping) probes the server. [`LockClient::revoke`](crate::LockClient::revoke)
//! takes a lock from its holder, and [`LockClient::audit`](crate::LockClient::audit) reads who did so.
//!
//! All of them work with every kind of store, also in memory. Inspection writes nothing and runs no script, so [few
//! permissions](crate::docs::security#viewers-and-operators) are enough.
//!
//! Labels, keys and reasons come from other programs. Escape them wherever they are shown; [`is_plain`] detects the
//! characters that a terminal would obey.

pub use crate::client::{Audit, Locks};
#[doc(hidden)]
pub use crate::state::{Answer, ServerAnswers};
pub use crate::state::{
    AuditEntry, Holder, HolderKind, HolderRef, ListingPosition, LocalHold, LockState,
    ParseHolderRefError, ParseListingPositionError, Receipt, RecordHash, Revocation, Revoked,
    Votes, Waiter, is_plain,
};
