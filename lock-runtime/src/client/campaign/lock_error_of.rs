//! Finds the lock's failure in the error of a function.

use std::error::Error;
use std::fmt;
use std::io;

use crate::error::LockError;

/// Finds the `LockError` in an error of type `E`.
#[diagnostic::on_unimplemented(
    message = "a campaign cannot look for a `LockError` in `{E}`, which does not implement `std::error::Error`",
    label = "its function returns this error",
    note = "say where it is: `.lock_error(|error: &{E}| error.downcast_ref())`, and `None` for errors that end the campaign"
)]
pub trait LockErrorOf<E> {
    /// Returns why a function failed with `error`.
    fn cause_of<'e>(&self, error: &'e E) -> Cause<'e>;
}

/// Why a function failed.
#[derive(Clone, Copy, Debug)]
pub enum Cause<'e> {
    /// A lock failed so.
    Lock(&'e LockError),
    /// Anything: the error may hide its cause, as transparent variants and messages do.
    Unknown,
    /// No lock.
    Other,
}

/// Looks at the error itself, and along its sources.
#[derive(Clone, Copy, Debug)]
pub struct AlongSources;

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> LockErrorOf<E> for AlongSources {
    fn cause_of<'e>(&self, error: &'e E) -> Cause<'e> {
        along_sources(error).map_or(Cause::Unknown, Cause::Lock)
    }
}

/// Asks the program.
#[derive(Clone)]
pub struct Told<L>(pub(super) L);

impl<L> fmt::Debug for Told<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Told")
    }
}

impl<E, L> LockErrorOf<E> for Told<L>
where
    L: for<'e> Fn(&'e E) -> Option<&'e LockError>,
{
    fn cause_of<'e>(&self, error: &'e E) -> Cause<'e> {
        self.0(error).map_or(Cause::Other, Cause::Lock)
    }
}

fn along_sources<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e LockError> {
    std::iter::successors(Some(error), |error| next_source(*error))
        .find_map(|error| error.downcast_ref())
}

fn next_source<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>() {
        // Its source is the source of the error inside.
        Some(outer) => outer
            .get_ref()
            .map(|inner| -> &'e (dyn Error + 'static) { inner }),
        None => error.source(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::LockErrorKind;

    #[derive(Debug, thiserror::Error)]
    enum ShipError {
        #[error("no stock")]
        NoStock,
        #[error("locked")]
        Lock(#[from] LockError),
        #[error("i/o")]
        Io(#[from] io::Error),
    }

    #[test]
    fn lock_error_is_found_at_any_depth() {
        let busy = || LockError::new(LockErrorKind::Busy);
        let found = |error: &(dyn Error + 'static)| along_sources(error).is_some();
        assert!(found(&busy()));
        assert!(found(&ShipError::from(busy())));
        assert!(found(&io::Error::from(busy())));
        assert!(found(&ShipError::from(io::Error::from(busy()))));
        assert!(found(&io::Error::other(ShipError::from(busy()))));
        assert!(!found(&ShipError::NoStock));
        assert!(!found(&io::Error::from(io::ErrorKind::NotFound)));
    }
}
