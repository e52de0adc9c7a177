//! How long an owner waits for nodes.

use std::time::Duration;

/// How often an owner looks at the other owners' nodes before it waits for messages alone.
pub(in crate::backend::redis::quorum) const LOOKS: u32 = 3;

/// The shortest wait for a node that does not answer.
const LEAST_SILENCE: Duration = Duration::from_millis(20);

/// The shortest time before another look at the other owners' nodes, in addition to two round trips.
pub(crate) const LEAST_LOOK: Duration = Duration::from_micros(500);

/// One answer slower than this does not extend the wait for a node.
const SLOWEST: Duration = Duration::from_millis(50);

/// How long an owner waits for nodes, derived from their answer times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    /// The wait for a silent node before the owner yields.
    pub(crate) with_silence: Duration,
    /// The first interval after which an owner that has some nodes looks at the others again.
    pub(crate) before_look: Duration,
}

impl Patience {
    /// The patience for nodes whose answers usually take `round_trip`.
    pub(crate) fn of(round_trip: Duration) -> Patience {
        Patience {
            with_silence: LEAST_SILENCE.max(round_trip * 4),
            before_look: LEAST_LOOK + round_trip * 2,
        }
    }

    /// A node that had counted as silent answered after all: all nodes may have become slow at once, as on another
    /// network route.
    pub(super) fn note(&mut self, took: Duration) {
        if took > self.with_silence {
            let slow = Patience::of(took.min(SLOWEST));
            self.with_silence = self.with_silence.max(slow.with_silence);
            self.before_look = self.before_look.max(slow.before_look);
        }
    }
}
