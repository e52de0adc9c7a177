//! How long an owner waits for nodes.

use std::time::Duration;

/// How often an owner looks at the nodes of others before it waits for messages alone.
pub(in crate::backend::redis::quorum) const LOOKS: u32 = 3;

/// The least time for which a node without an answer is waited for.
const LEAST_SILENCE: Duration = Duration::from_millis(20);

/// The least time after which the nodes of others are looked at again, beside two round trips.
pub(crate) const LEAST_LOOK: Duration = Duration::from_micros(500);

/// A node that is slower than this is not waited for because of one answer.
const SLOWEST: Duration = Duration::from_millis(50);

/// How long an owner waits for nodes, by what their answers have taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    /// After this, a node without an answer is not waited for before the owner gives way.
    pub(crate) with_silence: Duration,
    /// The first time after which an owner that has some nodes looks at the others again.
    pub(crate) before_look: Duration,
}

impl Patience {
    /// That with nodes whose answers usually take `round_trip`.
    pub(crate) fn of(round_trip: Duration) -> Patience {
        Patience {
            with_silence: LEAST_SILENCE.max(round_trip * 4),
            before_look: LEAST_LOOK + round_trip * 2,
        }
    }

    /// A node that had counted as silent answered after all: all may have become slow at once, as on another way through
    /// the network.
    pub(super) fn note(&mut self, took: Duration) {
        if took > self.with_silence {
            let slow = Patience::of(took.min(SLOWEST));
            self.with_silence = self.with_silence.max(slow.with_silence);
            self.before_look = self.before_look.max(slow.before_look);
        }
    }
}
