//! The observable state of a lock, as plain data.
//!
//! Backends make these values, and callers of [`inspect`](crate::inspect) read them. None of them contains an owner id,
//! since that would let a reader release the lock.

mod audit_action;
mod audit_entry;
mod audit_outcome;
mod holder_ref;
#[cfg(feature = "serde")]
mod json;
mod listed_lock;
mod listing_position;
mod local_hold;
mod lock_state;
mod printable;
mod revocation;
mod rfc3339;
mod run;
mod run_outcome;
mod server_answers;
#[cfg(feature = "serde")]
mod stored;

pub use audit_action::AuditAction;
pub use audit_entry::AuditEntry;
pub use audit_outcome::AuditOutcome;
pub use holder_ref::{HolderRef, ParseHolderRefError, RecordHash};
pub use listed_lock::ListedLock;
pub use listing_position::{ListingPosition, ParseListingPositionError};
pub use local_hold::LocalHold;
pub use lock_state::{Holder, HolderKind, LockState, Votes, Waiter};
pub use printable::{Escaped, escape, is_printable};
pub(crate) use revocation::bounded;
pub use revocation::{Receipt, Revocation, Revoked};
pub use rfc3339::Rfc3339;
pub use run::Run;
pub use run_outcome::RunOutcome;
pub use server_answers::{Answer, ServerAnswers};
