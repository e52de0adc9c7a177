//! How a call gets from one lock to the next.

use super::access::{Hold, Wait};
use super::party::Party;

/// How a call gets from one lock to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// It takes both in one call, in the order of their names, which is the same in all of these calls.
    Together,
    /// It is nested: the program decides the order.
    Nested,
}

/// A call held one lock and waited for another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub(crate) step: Step,
    pub(crate) hold: Hold,
    pub(crate) wait: Wait,
    pub(crate) holder: Party,
    pub(crate) asker: Party,
}

impl Crossing {
    /// Whether this closes every ring that the other one closes.
    pub(super) fn covers(&self, other: &Crossing) -> bool {
        self.step >= other.step && self.hold >= other.hold && self.wait >= other.wait
    }
}
