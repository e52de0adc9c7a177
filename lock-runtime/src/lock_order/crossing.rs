//! One way from a lock to the next.

use super::access::{Hold, Wait};
use super::party::Party;

/// A call held one lock and waited for another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    pub(crate) hold: Hold,
    pub(crate) wait: Wait,
    pub(crate) holder: Party,
    pub(crate) asker: Party,
}

impl Crossing {
    /// Whether this closes every ring that the other one closes.
    pub(super) fn covers(&self, other: &Crossing) -> bool {
        self.hold >= other.hold && self.wait >= other.wait
    }
}
