//! The clock that all processes of a machine share.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::time::Instant;

/// Nanoseconds since a moment that is the same for every process. `Instant` uses the same clock,
/// but cannot be sent to another process.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    let [seconds, nanos] = [seconds, nanos].map(|part| part.expect("it counts from boot"));
    seconds * 1_000_000_000 + nanos
}

/// Converts a time to nanoseconds of the clock.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).expect("it is shorter than 584 years")
}

/// Sleeps until that moment.
pub(crate) async fn sleep_until(moment: u64) {
    tokio::time::sleep_until(instant(moment)).await;
}

/// Converts a moment for tokio's timers.
pub(crate) fn instant(moment: u64) -> Instant {
    Instant::now() + Duration::from_nanos(moment.saturating_sub(now()))
}
