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
    corrections: 0,
};

const LEVEL: &[Ticks] = &[0, 0, 0];
const APART: &[Ticks] = &[0, 1, 2];

const FIVE: &[Ticks] = &[0; 5];

/// The first owner's stamp is earlier.
const TWO: &[Token] = &[1, 2];
const THREE: &[Token] = &[1, 2, 3];
const FOUR: &[Token] = &[1, 2, 3, 4];

/// Two owners and three nodes with one clock.
const fn quorum(name: &'static str, ttl: Ticks, horizon: Ticks, budget: Budget) -> Quorum {
    Quorum {
        name,
        clocks: LEVEL,
        restart_clocks: &[],
        stamps: TWO,
        ttl,
        horizon,
        lost: None,
        budget,
        recovers: 64,
        mistake: None,
        removed: None,
    }
}

/// The configuration of that name, if there is one.
pub fn named(name: &str) -> Option<Quorum> {
    let mut all = CONFIGURATIONS.iter().chain(DEEP).chain(WALKS);
    all.find(|of| of.name == name).copied()
}

/// All configurations of the tests.
pub const CONFIGURATIONS: &[Quorum] = &[
    quorum("quorum, two owners", 2, 1, NOTHING),
    Quorum {
        clocks: APART,
        ..quorum("quorum, clocks apart", 2, 1, NOTHING)
    },
    quorum("quorum, polls", 2, 1, budget!(polls: 1)),
    quorum("quorum, a slow answer", 1, 1, budget!(slow: 1)),
    quorum("quorum, slow answers", 1, 1, budget!(slow: 2)),
    quorum("quorum, a break", 2, 0, budget!(breaks: 1)),
    quorum(
        "quorum, a break and a poll",
        2,
        0,
        budget!(breaks: 1, polls: 1),
    ),
    quorum("quorum, renewal", 2, 1, budget!(renewals: 1)),
    quorum("quorum, renewal of one tick", 1, 2, budget!(renewals: 1)),
    quorum("quorum, giving up", 2, 1, budget!(give_ups: 1)),
    quorum("quorum, flushed", 1, 2, budget!(flushes: 1)),
    quorum("quorum, restarted", 1, 2, budget!(restarts: 1)),
    quorum(
        "quorum, restarted with old records",
        1,
        1,
        budget!(restarts: 1, saves: 1),
    ),
    Quorum {
        clocks: &[3, 3, 3],
        restart_clocks: &[0, 6],
        ..quorum(
            "quorum, restarted with a wrong clock",
            1,
            2,
            budget!(restarts: 1, corrections: 1),
        )
    },
    Quorum {
        clocks: &[0, 0, 2],
        lost: Some(7),
        ..quorum("quorum, after a loss", 2, 1, NOTHING)
    },
];

/// The configurations for walks.
pub const WALKS: &[Quorum] = &[
    Quorum {
        stamps: FOUR,
        ..quorum(
            "walk, quorum",
            3,
            9,
            budget!(polls: 6, slow: 4, renewals: 2, give_ups: 2, breaks: 4),
        )
    },
    Quorum {
        clocks: &[0, 1, 2, 0, 1],
        stamps: FOUR,
        ..quorum(
            "walk, quorum of five",
            3,
            9,
            budget!(polls: 6, slow: 4, renewals: 2, give_ups: 2, breaks: 4),
        )
    },
    Quorum {
        stamps: FOUR,
        ..quorum(
            "walk, quorum without data",
            2,
            9,
            budget!(polls: 6, slow: 2, renewals: 3, give_ups: 1, breaks: 4, flushes: 1, restarts: 1),
        )
    },
];

/// The configurations that take longer.
pub const DEEP: &[Quorum] = &[
    quorum("quorum, two owners for longer", 2, 2, NOTHING),
    Quorum {
        lost: Some(7),
        ..quorum("quorum, flushed after a loss", 2, 1, budget!(flushes: 1))
    },
    Quorum {
        stamps: THREE,
        ..quorum("quorum, three owners", 2, 0, NOTHING)
    },
    Quorum {
        clocks: FIVE,
        ..quorum("quorum, five nodes", 2, 0, NOTHING)
    },
    quorum(
        "quorum, renewal, flushed",
        1,
        1,
        budget!(renewals: 1, flushes: 1),
    ),
    quorum("quorum, two flushed", 1, 2, budget!(flushes: 2)),
];
