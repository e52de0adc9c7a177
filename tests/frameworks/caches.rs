//! `#[cached]`: with `#[distributed_lock]` below, a cache hit skips the lock; with it above, a hit
//! still takes the lock.

use std::sync::atomic::{AtomicU8, Ordering};

use cached::macros::cached;
use lock_runtime::{LockError, distributed_lock};

use crate::{HELD, elsewhere, locks, state};

type Answer = Result<&'static str, String>;

static RUNS: [AtomicU8; 4] = [const { AtomicU8::new(0) }; 4];

fn text(error: LockError) -> Answer {
    Err(error.to_string())
}

fn run(which: usize, key: &str) -> Answer {
    RUNS[which].fetch_add(1, Ordering::Relaxed);
    Ok(state(key))
}

#[distributed_lock(key = "cached/above/<id>", or_else = text)]
#[cached]
async fn above(id: u8) -> Answer {
    run(0, &format!("cached/above/{id}"))
}

#[cached]
#[distributed_lock(key = "cached/below/<id>", or_else = text)]
async fn below(id: u8) -> Answer {
    run(1, &format!("cached/below/{id}"))
}

#[distributed_lock(key = "cached/above blocking/<id>", or_else = text)]
#[cached]
fn above_blocking(id: u8) -> Answer {
    run(2, &format!("cached/above blocking/{id}"))
}

#[cached]
#[distributed_lock(key = "cached/below blocking/<id>", or_else = text)]
fn below_blocking(id: u8) -> Answer {
    run(3, &format!("cached/below blocking/{id}"))
}

fn runs(which: usize) -> u8 {
    RUNS[which].load(Ordering::Relaxed)
}

#[tokio::test]
async fn cached_hits_below_the_attribute_skip_the_lock() {
    locks();
    assert_eq!(above(1).await, Ok(HELD));
    assert_eq!(above_blocking(1), Ok(HELD));
    let _taken = ["cached/above/1", "cached/above blocking/1"].map(elsewhere);
    assert_eq!(above(1).await, Ok(HELD));
    assert_eq!(above_blocking(1), Ok(HELD));
    assert_eq!((runs(0), runs(2)), (1, 1));
}

#[tokio::test]
async fn cached_hits_above_the_attribute_are_under_the_lock() {
    locks();
    assert_eq!(below(1).await, Ok(HELD));
    assert_eq!(below_blocking(1), Ok(HELD));
    assert_eq!(below(1).await, Ok(HELD));
    assert_eq!(below_blocking(1), Ok(HELD));
    assert_eq!((runs(1), runs(3)), (1, 1));
    let _taken = ["cached/below/1", "cached/below blocking/1"].map(elsewhere);
    assert!(below(1).await.is_err());
    assert!(below_blocking(1).is_err());
    assert_eq!((runs(1), runs(3)), (1, 1));
}
