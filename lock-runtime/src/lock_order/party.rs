//! A call as a report names it.

use std::fmt;
use std::panic::Location;

/// A call as a report names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// Empty if the lock is taken without the attribute.
    pub(crate) function: &'static str,
    pub(crate) template: &'static str,
    pub(crate) place: &'static Location<'static>,
}

/// The function and its place: `audit (src/ledger.rs:12)`.
impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line) = (self.place.file(), self.place.line());
        match self.function {
            "" => write!(f, "{file}:{line}"),
            function => write!(f, "{function} ({file}:{line})"),
        }
    }
}
