//! Locks as operators see them: who holds them, who waits, and how to take one away.
//!
//! [`LockClient::inspect`](crate::LockClient::inspect) looks at one lock, [`LockClient::locks`](crate::LockClient::locks)
//! lists them, [`LockClient::held`](crate::LockClient::held) names those of this process, and
//! [`LockClient::ping`](crate::LockClient::ping) is a probe. [`LockClient::revoke`](crate::LockClient::revoke) takes a lock
//! from its holder, and [`LockClient::audit`](crate::LockClient::audit) reads by whom that was done.
//!
//! All of them work wherever the locks are, also in memory. Looking writes nothing and runs no script, so a user with
//! [few permissions](crate::docs::security#viewers-and-operators) can do it.
//!
//! Labels, keys and reasons come from other programs. Escape them where they are shown; [`is_plain`] says which characters a
//! terminal would obey.

pub use crate::client::{Audit, Locks};
#[doc(hidden)]
pub use crate::state::{Answer, ServerAnswers};
pub use crate::state::{
    AuditEntry, Holder, HolderKind, HolderRef, ListingPosition, LocalHold, LockState,
    ParseHolderRefError, ParseListingPositionError, Receipt, RecordHash, Revocation, Revoked,
    Votes, Waiter, is_plain,
};
