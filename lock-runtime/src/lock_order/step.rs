//! How a call gets from one lock to the next.

/// How a call gets from one lock to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// It takes both in one call, in the order of their names, which is the same in all of these calls.
    Together,
    /// It is nested: the program decides the order.
    Nested,
}
