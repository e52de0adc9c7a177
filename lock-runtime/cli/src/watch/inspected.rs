//! What is known of a lock, as the live view shows it over the list.

use super::row::Row;

/// What is known of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inspected {
    /// Lines that are fit for a terminal.
    pub(crate) text: String,
    /// The lock as the text has it; `None` if it is free.
    pub(crate) row: Option<Row>,
}
