//! The time of an end in a search, and what makes ends equal that differ only in what the model does not ask.

use std::time::Duration;

use crate::backend::engine::ending::{Ending, Phase, Way};
use crate::background::moment::Moment;

/// The time now, always. Instead of it, all moments move as time passes; those that are over are one.
pub(crate) const NOW: Moment = Moment::FIRST;

impl Ending {
    /// So much time passes.
    pub(crate) fn pass(&mut self, time: Duration) {
        let earlier = |moment: Moment| NOW + moment.since(NOW + time);
        self.rests_until = self.rests_until.map(earlier).filter(|&until| until > NOW);
        if let Phase::Settling { settling, .. } = &mut self.phase {
            settling.shift(earlier);
        }
    }

    /// Forgets how long the pauses are: the model makes one of any length. It has no shutdown that waits for an end.
    pub(crate) fn reduce(&mut self) {
        match &mut self.phase {
            Phase::Urgent { failures } => *failures = 0,
            Phase::Settling {
                settling,
                is_awaited,
                ..
            } => {
                settling.reduce();
                *is_awaited = false;
            }
            Phase::First | Phase::Over => {}
        }
    }

    /// Whether the lock is to stay taken.
    pub(crate) fn rests(&self) -> bool {
        self.rests_until.is_some()
    }

    /// Whether the next command, or the one under way, is a release.
    pub(crate) fn releases(&self) -> bool {
        self.way == Way::Release
    }

    /// Whether the next caller of the local queue is to be promoted.
    pub(crate) fn owes_head(&self) -> bool {
        self.owes.head
    }

    /// Whether the caller of the release is to be told.
    pub(crate) fn owes_report(&self) -> bool {
        self.owes.report
    }

    /// Whether no command of the owner can arrive any more.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Settling { settling, .. } if settling.is_last(NOW))
    }
}
