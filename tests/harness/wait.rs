//! Waits for events, instead of fixed sleeps.

use std::time::{Duration, Instant};

use crate::stalls::ran_since;

/// A generous bound for anything that should happen soon: only a failing test takes this long. What waits with it does
/// not count the time in which its own process was not scheduled.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The pause between two checks of a condition. Most conditions hold immediately. Slower ones are
/// checked less often, since each check takes CPU time from the processes under test.
fn step(waited: Duration) -> Duration {
    const SHORTEST: Duration = Duration::from_millis(2);
    (waited / 16).clamp(SHORTEST, SHORTEST * 25)
}

/// Blocks until `condition` holds.
#[track_caller]
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(ran_since(start) < limit, "no {what} within {limit:?}");
        pause(start.elapsed());
    }
}

/// Like [`wait_until`], for async tests. Counts real time, even on a runtime with paused time.
pub async fn eventually(what: &str, limit: Duration, mut condition: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !condition().await {
        assert!(ran_since(start) < limit, "no {what} within {limit:?}");
        tokio::time::sleep(step(start.elapsed())).await;
    }
}

/// Blocks this thread for a time.
pub(crate) fn block(time: Duration) {
    sleep(time);
}

/// Blocks this thread between two checks of a condition, depending on the time waited so far.
pub(crate) fn pause(waited: Duration) {
    sleep(step(waited));
}

#[expect(
    clippy::disallowed_methods,
    reason = "it blocks a thread of the test's own"
)]
fn sleep(time: Duration) {
    std::thread::sleep(time);
}
