//! A process that ends right after it dropped its guard.

use std::time::Instant;

use harness::PATIENCE;

use crate::scene::{SLACK, Scene, TTL, served};

/// The release may be on its way or not: the ttl bounds it either way, and nothing hangs.
#[test]
fn a_process_that_ends_after_dropping_its_guard_blocks_nobody_past_the_ttl() {
    let mut scene = Scene::new();
    let (mut holder, first) = scene.holder(TTL);
    let waiter = scene.waiter(TTL);
    holder.send("leave");
    let status = holder.ended(PATIENCE);
    let left = Instant::now();
    assert!(status.success(), "{status}");
    let second = served(&waiter, PATIENCE);
    assert!(left.elapsed() <= TTL + SLACK, "{:?}", left.elapsed());
    assert!(second > first);
}
