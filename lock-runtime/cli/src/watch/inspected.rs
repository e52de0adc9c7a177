//! A lock, as the live view shows it over the list.

use super::row::Row;

/// An inspected lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inspected {
    /// Lines that are safe for a terminal.
    pub(crate) text: String,
    /// The lock that the text shows; `None` if it is free.
    pub(crate) row: Option<Row>,
}
