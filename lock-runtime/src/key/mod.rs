//! Keys: how values become text, which keys are refused, and the names of a lock's records.

mod key_problem;
mod key_template;
mod key_writer;
mod lock;
mod lock_key;
mod record_names;
mod slot;
mod stack_text;

pub use key_template::KeyTemplate;
pub use key_writer::{KeyPart, KeyWriter};
pub(crate) use lock::{Lock, OneOrMore};
pub use lock_key::LockKey;
pub(crate) use record_names::{ByLock, CommonRecord, LockName, NameOf, RecordKind, RecordNames};
pub(crate) use slot::{SLOTS, slot_of};
