//! The seed of a test's random choices.

use std::env;
use std::hash::{BuildHasher, RandomState};

/// The number in `LOCK_TEST_SEED`, or a different one in each run. It is printed, so that a failure
/// can be reproduced.
pub fn seed() -> u64 {
    let seed = env::var("LOCK_TEST_SEED").map_or_else(
        |_| RandomState::new().hash_one("a seed"),
        |seed| seed.parse().expect("the seed is a number"),
    );
    eprintln!("LOCK_TEST_SEED={seed}");
    seed
}
