//! Keys: how values become text, which keys are refused, and the names of a lock's records.

mod key_problem;
mod key_set;
mod key_writer;
mod lock_key;
mod lock_name;
mod lock_set;
mod name_set;
mod record_names;
mod slot;
mod stack_text;
mod values;

pub(crate) use key_set::KeySet;
pub use key_writer::{KeyPart, KeyWriter};
pub use lock_key::LockKey;
pub(crate) use lock_name::{ByLock, LockName};
pub(crate) use lock_set::{Lock, LockSet};
pub(crate) use name_set::NameSet;
pub(crate) use record_names::{CommonRecord, NameOf, RecordKind, RecordNames};
pub(crate) use slot::{SLOTS, slot_of};
