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

/// The first owner is before the second.
const TWO: &[Token] = &[1, 2];
const THREE: &[Token] = &[1, 2, 3];

const TWO_OWNERS: Quorum = Quorum {
    name: "two owners",
    clocks: LEVEL,
    stamps: TWO,
    ttl: 2,
    horizon: 2,
    budget: NOTHING,
    recovers: 64,
    mistake: None,
};

/// All configurations of the tests.
pub const CONFIGURATIONS: &[Quorum] = &[
    TWO_OWNERS,
    Quorum {
        name: "clocks apart",
        clocks: APART,
        ..TWO_OWNERS
    },
    Quorum {
        name: "polls",
        budget: Budget {
            polls: 2,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "a break",
        horizon: 1,
        budget: Budget {
            breaks: 1,
            polls: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "renewal",
        horizon: 3,
        budget: Budget {
            renewals: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "giving up",
        budget: Budget {
            give_ups: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "flushed",
        horizon: 3,
        budget: Budget {
            flushes: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "restarted",
        horizon: 3,
        budget: Budget {
            restarts: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
    Quorum {
        name: "restarted with old records",
        horizon: 2,
        budget: Budget {
            restarts: 1,
            saves: 1,
            ..NOTHING
        },
        ..TWO_OWNERS
    },
];

/// Those that take longer.
pub const DEEP: &[Quorum] = &[Quorum {
    name: "three owners",
    stamps: THREE,
    horizon: 0,
    ..TWO_OWNERS
}];
