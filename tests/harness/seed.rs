//! The seed of a test's random choices.

use std::env;
use std::hash::{BuildHasher, RandomState};

/// Another number in each run, or that of `LOCK_TEST_SEED`. It is printed, so that a failure can be repeated.
pub fn seed() -> u64 {
    let seed = env::var("LOCK_TEST_SEED").map_or_else(
        |_| RandomState::new().hash_one("a seed"),
        |seed| seed.parse().expect("the seed is a number"),
    );
    eprintln!("LOCK_TEST_SEED={seed}");
    seed
}
