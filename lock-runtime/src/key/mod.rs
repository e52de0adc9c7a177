//! Keys: how values become text, which keys are refused, and the names of a lock's records.

mod key_problem;
mod key_writer;
mod lock;
mod lock_key;
mod lock_name;
mod one_or_more;
mod record_names;
mod slot;
mod stack_text;
mod values;

pub use key_writer::{KeyPart, KeyWriter};
pub(crate) use lock::Lock;
pub use lock_key::LockKey;
pub(crate) use lock_name::{ByLock, LockName};
pub(crate) use one_or_more::OneOrMore;
pub(crate) use record_names::{CommonRecord, NameOf, RecordKind, RecordNames};
pub(crate) use slot::{SLOTS, slot_of};
