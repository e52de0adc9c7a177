//! The number and length of measurements.

use std::time::Duration;

/// Rounds, cycles and times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Rounds of each comparison with a floor; the figures are medians over them.
    pub(crate) rounds: usize,
    /// Cycles of a round.
    pub(crate) cycles: usize,
    /// The time of a round with many tasks.
    pub(crate) slice: Duration,
    /// Hand-offs from a release to a grant.
    pub(crate) handoffs: usize,
    /// Holders that are killed.
    pub(crate) crashes: u32,
    /// Locks that one process holds, and how long it is observed meanwhile.
    pub(crate) held: usize,
    pub(crate) watch: Duration,
}

impl Effort {
    /// Waiting peers have fewer and longer rounds than this project's client, and fewer hand-offs, since they sleep.
    pub(crate) fn of_peers(self) -> Effort {
        Effort {
            rounds: self.rounds.div_ceil(2),
            slice: self.long_slice(),
            handoffs: self.handoffs / 10,
            ..self
        }
    }

    /// The time of a round in which a lock rarely passes on: its waiters sleep, or its servers are far away.
    pub(crate) fn long_slice(self) -> Duration {
        self.slice * 5 / 2
    }

    /// Cycles of a round over a network.
    pub(crate) fn far_cycles(self) -> usize {
        self.cycles / 20
    }

    /// The most waiters of one process.
    pub(crate) fn crowd(self) -> u32 {
        u32::try_from(self.held / 10).expect("they are few")
    }

    /// Takes minutes.
    pub(crate) const FULL: Effort = Effort {
        rounds: 5,
        cycles: 30_000,
        slice: Duration::from_millis(400),
        handoffs: 500,
        crashes: 20,
        held: 100_000,
        // Longer than the time between two renewals of a lease of 30 s.
        watch: Duration::from_secs(11),
    };

    /// Takes seconds: shows that all parts work, without reliable figures. Derived efforts get very small: instructions
    /// are counted over 6 and 20 cycles, and the throughput of one waiter is compared with that of 1 and of 100.
    pub(crate) const QUICK: Effort = Effort {
        rounds: 2,
        cycles: 200,
        slice: Duration::from_millis(100),
        handoffs: 20,
        crashes: 2,
        held: 1_000,
        watch: Duration::from_secs(1),
    };
}
