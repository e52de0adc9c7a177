//! Keys: how values become text, what a key may not be, and where its records live.

mod key_part;
mod key_problem;
mod key_writer;
mod lock_key;
mod record_names;

pub use key_part::KeyPart;
pub(crate) use key_problem::KeyProblem;
pub use key_writer::KeyWriter;
pub use lock_key::LockKey;
pub(crate) use record_names::{Beside, ByLock, LockName, RecordNames};

/// Whether a byte of a value stands in a key as it is. Every other ASCII byte becomes `%XX`, so a
/// separator in a template's own text can never be part of a value.
pub(crate) const fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'_' | b'.' | b'@' | b'+')
        || !byte.is_ascii()
}
