//! The configurations that are explored.

use super::records::{Ticks, Token};
use super::{Budget, Quorum};

const NOTHING: Budget = Budget {
    polls: 0,
    slow: 0,
    renewals: 0,
    give_ups: 0,
    breaks: 0,
    flushes: 0,
    restarts: 0,
    saves: 0,
};

const LEVEL: &[Ticks] = &[0, 0, 0];
const APART: &[Ticks] = &[0, 1, 2];

const FIVE: &[Ticks] = &[0; 5];

/// The first owner is before the second.
const TWO: &[Token] = &[1, 2];
const THREE: &[Token] = &[1, 2, 3];

const TWO_OWNERS: Quorum = Quorum {
    name: "quorum, two owners",
    clocks: LEVEL,
    stamps: TWO,
    ttl: 2,
    horizon: 2,
    lost: None,
    budget: NOTHING,
    recovers: 64,
    mistake: None,
};

/// All configurations of the tests.
pub const CONFIGURATIONS: &[Quorum] = &[
    TWO_OWNERS,
    Quorum {
        name: "quorum, clocks apart",
        clocks: APART,
        horizon: 1,
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, polls",
        horizon: 1,
        budget: Budget {
            polls: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, a slow answer",
        horizon: 1,
        ttl: 1,
        budget: Budget { slow: 1, ..NOTHING },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, a break",
        horizon: 0,
        budget: Budget {
            breaks: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, a break and a poll",
        horizon: 0,
        budget: Budget {
            breaks: 1,
            polls: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, renewal",
        horizon: 2,
        budget: Budget {
            renewals: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, renewal of one tick",
        horizon: 2,
        ttl: 1,
        budget: Budget {
            renewals: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, giving up",
        horizon: 1,
        budget: Budget {
            give_ups: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, flushed",
        horizon: 2,
        ttl: 1,
        budget: Budget {
            flushes: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, restarted",
        horizon: 2,
        ttl: 1,
        budget: Budget {
            restarts: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, restarted with old records",
        horizon: 1,
        ttl: 1,
        budget: Budget {
            restarts: 1,
            saves: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, after a loss",
        clocks: &[0, 0, 2],
        horizon: 1,
        lost: Some(7),
        ..TWO_OWNERS
    },
];

/// Those that take longer.
pub const DEEP: &[Quorum] = &[
    Quorum {
        name: "quorum, three owners",
        stamps: THREE,
        horizon: 0,
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, five nodes",
        clocks: FIVE,
        horizon: 0,
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, renewal, flushed",
        horizon: 1,
        ttl: 1,
        budget: Budget {
            renewals: 1,
            flushes: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "quorum, two flushed",
        horizon: 2,
        ttl: 1,
        budget: Budget {
            flushes: 2,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
];
