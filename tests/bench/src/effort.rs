//! The number and length of measurements.

use std::time::Duration;

/// Rounds, cycles and times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Rounds of each comparison with a floor; the figures are medians over them.
    pub(crate) rounds: usize,
    /// Cycles of a round.
    pub(crate) cycles: usize,
    /// Cycles of a round over a network.
    pub(crate) far_cycles: usize,
    /// Cycles whose instructions are counted: additional cycles would take longer without adding
    /// precision.
    pub(crate) instructed: usize,
    /// The time of a round with many tasks.
    pub(crate) slice: Duration,
    /// Rounds of waiting peers, and their time: peers wait longer than this project's client.
    pub(crate) peer_rounds: usize,
    pub(crate) peer_slice: Duration,
    /// Hand-offs from a release to a grant.
    pub(crate) handoffs: usize,
    pub(crate) peer_handoffs: usize,
    /// Holders that are killed.
    pub(crate) crashes: u32,
    /// Locks that one process holds, and how long it is observed meanwhile.
    pub(crate) held: usize,
    pub(crate) watch: Duration,
    /// The most waiters of one process.
    pub(crate) crowd: u32,
}

impl Effort {
    /// Takes minutes.
    pub(crate) const FULL: Effort = Effort {
        rounds: 5,
        cycles: 30_000,
        far_cycles: 1_500,
        instructed: 1_000,
        slice: Duration::from_millis(400),
        peer_rounds: 3,
        peer_slice: Duration::from_secs(1),
        handoffs: 500,
        peer_handoffs: 50,
        crashes: 20,
        held: 100_000,
        // Longer than the time between two renewals of a lease of 30 s.
        watch: Duration::from_secs(11),
        crowd: 10_000,
    };

    /// Takes seconds: shows that all parts work, without reliable figures.
    pub(crate) const QUICK: Effort = Effort {
        rounds: 2,
        cycles: 200,
        far_cycles: 50,
        instructed: 50,
        slice: Duration::from_millis(100),
        peer_rounds: 1,
        peer_slice: Duration::from_millis(200),
        handoffs: 20,
        peer_handoffs: 5,
        crashes: 2,
        held: 1_000,
        watch: Duration::from_secs(1),
        crowd: 200,
    };
}
