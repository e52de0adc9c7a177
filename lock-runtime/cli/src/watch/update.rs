//! What the live view learns of the locks.

use super::row::Row;

/// What one look has found.
#[derive(Debug)]
pub(crate) enum Update {
    /// All locks of the pattern, in the order of their keys.
    All(Vec<Row>),
    /// The locks that were asked for by their keys.
    Some {
        /// `None` for one that is free.
        locks: Vec<(String, Option<Row>)>,
        /// Why others could not be seen.
        failure: Option<String>,
    },
}
