//! News about the locks for the live view.

use super::row::Row;

/// The result of one read.
#[derive(Debug)]
pub(crate) enum Update {
    /// All locks of the pattern, in the order of their keys.
    All(Vec<Row>),
    /// The locks that were asked for by their keys.
    Some {
        /// `None` for a free lock.
        locks: Vec<(String, Option<Row>)>,
        /// Why others could not be read.
        failure: Option<String>,
    },
}
