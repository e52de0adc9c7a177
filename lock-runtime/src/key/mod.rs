//! Keys: how values become text, which keys are refused, and the names of a lock's records.

mod key_problem;
mod key_writer;
mod lock_key;
mod record_names;
mod values;

pub use key_writer::{KeyPart, KeyWriter};
pub use lock_key::LockKey;
pub(crate) use record_names::{Beside, ByLock, LockName, RecordNames};
