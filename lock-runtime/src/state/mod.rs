//! The observable state of a lock, as plain data.
//!
//! Backends make these values, and callers of [`inspect`](crate::inspect) read them. None of them contains an owner id,
//! since that would let a reader release the lock.

mod audit_entry;
mod holder_ref;
mod listing_position;
mod local_hold;
mod lock_state;
mod plain;
mod revocation;
mod server_answers;

pub use audit_entry::AuditEntry;
pub(crate) use audit_entry::INTENDED;
pub use holder_ref::{HolderRef, ParseHolderRefError, RecordHash};
pub use listing_position::{ListingPosition, ParseListingPositionError};
pub use local_hold::LocalHold;
pub use lock_state::{Holder, HolderKind, LockState, Votes, Waiter};
pub use plain::is_plain;
pub(crate) use revocation::bounded;
pub use revocation::{Receipt, Revocation, Revoked};
pub use server_answers::{Answer, ServerAnswers};
