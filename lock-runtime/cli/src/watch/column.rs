//! The columns that the live view can be sorted by.

/// The order of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Key,
    Age,
    Waiters,
    Holder,
}

impl Column {
    /// The next column.
    pub(crate) fn next(self) -> Column {
        match self {
            Column::Key => Column::Age,
            Column::Age => Column::Waiters,
            Column::Waiters => Column::Holder,
            Column::Holder => Column::Key,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Column::Key => "key",
            Column::Age => "age, oldest first",
            Column::Waiters => "waiters, most first",
            Column::Holder => "holder",
        }
    }
}
