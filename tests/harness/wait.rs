//! Waiting for events instead of sleeping and hoping.

use std::time::{Duration, Instant};

/// A generous bound for anything that should happen soon: only a failing test takes this long.
pub const PATIENCE: Duration = Duration::from_secs(20);

const STEP: Duration = Duration::from_millis(2);

/// Blocks until `condition` holds.
///
/// # Panics
///
/// When it does not within `limit`; `what` names the event in the message.
#[track_caller]
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < limit, "no {what} within {limit:?}");
        pause();
    }
}

/// Like [`wait_until`], for async tests. Counts real time, also on a runtime with paused time.
///
/// # Panics
///
/// When the condition does not hold within `limit`.
pub async fn eventually(what: &str, limit: Duration, mut condition: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !condition().await {
        assert!(start.elapsed() < limit, "no {what} within {limit:?}");
        tokio::time::sleep(STEP).await;
    }
}

/// Blocks this thread for so long.
pub(crate) fn block(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        pause();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the step between two looks at a condition, on a thread of the test's own"
)]
pub(crate) fn pause() {
    std::thread::sleep(STEP);
}
