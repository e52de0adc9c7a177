//! Keys: how values become text, what a key may not be, and where its records live.

mod lock_key;
mod names;
mod part;
mod problem;
mod writer;

pub use lock_key::LockKey;
pub(crate) use names::{Beside, ByLock, LockName, RecordNames};
pub use part::KeyPart;
pub(crate) use problem::KeyProblem;
pub use writer::KeyWriter;

/// Whether a byte of a value stands in a key as it is. Every other ASCII byte becomes `%XX`, so a
/// separator in a template's own text can never be part of a value.
pub(crate) const fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'_' | b'.' | b'@' | b'+')
        || !byte.is_ascii()
}
