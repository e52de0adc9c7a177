//! Waiting for events instead of sleeping and hoping.

use std::time::{Duration, Instant};

/// A generous bound for anything that should happen soon: only a failing test takes this long.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// The time between two looks at a condition. Most come true at once; those that take longer are looked at
/// less often, since each look takes time of a core that the processes need which are waited for.
fn step(waited: Duration) -> Duration {
    const SHORTEST: Duration = Duration::from_millis(2);
    (waited / 16).clamp(SHORTEST, SHORTEST * 10)
}

/// Blocks until `condition` holds.
///
/// # Panics
///
/// When it does not within `limit`; `what` names the event in the message.
#[track_caller]
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        let waited = start.elapsed();
        assert!(waited < limit, "no {what} within {limit:?}");
        pause(waited);
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
        let waited = start.elapsed();
        assert!(waited < limit, "no {what} within {limit:?}");
        tokio::time::sleep(step(waited)).await;
    }
}

/// Blocks this thread for so long.
pub(crate) fn block(time: Duration) {
    sleep(time);
}

/// Blocks this thread between two looks at a condition that was waited for so long.
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
