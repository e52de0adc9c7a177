//! How long an owner waits for nodes.

use std::time::Duration;

/// How often an owner asks the other owners' nodes again before it only waits for messages.
pub(in crate::backend::redis::quorum) const LOOKS: u32 = 3;

/// The minimum wait for a node that does not answer.
const LEAST_SILENCE: Duration = Duration::from_millis(20);

/// The minimum time before the other owners' nodes are asked again, in addition to two round trips.
pub(crate) const LEAST_LOOK: Duration = Duration::from_micros(500);

/// A slower answer counts as this slow, so that one answer cannot extend the wait for nodes further.
const SLOWEST: Duration = Duration::from_millis(50);

/// How long an owner waits for nodes, derived from their answer times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    /// How long the owner waits for a silent node before it yields.
    pub(crate) with_silence: Duration,
    /// The first interval after which an owner with some nodes asks the others again.
    pub(crate) before_look: Duration,
}

impl Patience {
    /// Returns the patience for nodes whose answers usually take `round_trip`.
    pub(crate) fn of(round_trip: Duration) -> Patience {
        Patience {
            with_silence: LEAST_SILENCE.max(round_trip * 4),
            before_look: LEAST_LOOK + round_trip * 2,
        }
    }

    /// Notes how long an answer took. If its node had counted as silent, all nodes may have become slow at once, for
    /// example because of another network route.
    pub(super) fn note(&mut self, took: Duration) {
        if took > self.with_silence {
            let slow = Patience::of(took.min(SLOWEST));
            self.with_silence = self.with_silence.max(slow.with_silence);
            self.before_look = self.before_look.max(slow.before_look);
        }
    }
}
