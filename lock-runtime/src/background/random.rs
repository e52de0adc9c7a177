//! Reads the operating system's random source.

use crate::error::{LockError, LockErrorKind};

/// Returns the random bits of an owner id: unique, and impossible to guess.
///
/// They are drawn when needed, never ahead: a fork or a snapshot of a virtual machine would copy a stock of them, and
/// the server would then confirm one lock to two holders.
pub(crate) fn acquisition() -> Result<[u8; 11], LockError> {
    bytes()
}

/// A number from 0 to 1, for delays that should not coincide.
///
/// Without random bytes it is 0.5: delays may then coincide, which only costs time.
pub(crate) fn jitter() -> f64 {
    bytes().map_or(0.5, |bytes| {
        f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX)
    })
}

/// Random bytes of the operating system.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], LockError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        LockError::new(LockErrorKind::Unavailable).with_detail(format!(
            "the operating system gave no random bytes: {error}"
        ))
    })?;
    Ok(bytes)
}
