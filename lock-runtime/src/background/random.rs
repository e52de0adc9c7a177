//! The operating system's random source.

use crate::error::{LockError, LockErrorKind};
use crate::lease::owner_id::ClientId;

/// A name for one client of this process.
pub(crate) fn client_id() -> Result<ClientId, LockError> {
    Ok(ClientId::from_random(bytes()?))
}

/// The bits of an owner that nobody had before and nobody can guess.
///
/// It is drawn when it is needed and never ahead: what is kept in store is copied with the process, by
/// a fork and by the snapshot of a virtual machine, and of two holders with one owner each would be
/// told that it has the lock.
pub(crate) fn acquisition() -> Result<[u8; 11], LockError> {
    bytes()
}

/// A number from 0 to 1, for delays that should not fall together.
///
/// Without random bytes it is 0.5: delays may then coincide, which costs time and nothing else.
pub(crate) fn jitter() -> f64 {
    bytes().map_or(0.5, |bytes| {
        f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX)
    })
}

fn bytes<const N: usize>() -> Result<[u8; N], LockError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        LockError::new(LockErrorKind::Unavailable).with_detail(format!(
            "the operating system gave no random bytes: {error}"
        ))
    })?;
    Ok(bytes)
}
