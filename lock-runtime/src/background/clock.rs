//! The two clocks that measure leases.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use crate::background::moment::Moment;

/// The clock that measures a backend's leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Advances while the machine sleeps, like the server's clock. Otherwise a laptop that was shut for an hour would
    /// rely on an hour-old lease.
    Boot,
    /// tokio's clock, which tests can pause. Outside a runtime it is the real one.
    Tokio,
    /// The real clock, also inside a runtime whose time is paused. It has the same zero as tokio's.
    Real,
}

/// The clock that schedules an owner's repeated ends. It stands still while the machine sleeps, and so do the commands
/// that may still arrive.
pub(crate) const SETTLING: Clock = Clock::Real;

impl Clock {
    pub(crate) fn now(self) -> Moment {
        match self {
            Clock::Boot => boot_now(),
            Clock::Tokio => since_zero(tokio_now()),
            Clock::Real => since_zero(Instant::now()),
        }
    }
}

/// Once a test has paused time, tokio's clock panics on a thread that drops its locals. A guard may be among them, and
/// uses the real clock.
fn tokio_now() -> Instant {
    match Handle::try_current() {
        Err(error) if error.is_thread_local_destroyed() => Instant::now(),
        _ => tokio::time::Instant::now().into_std(),
    }
}

fn since_zero(now: Instant) -> Moment {
    // A clock that was paused before this is first read is slightly behind the real one, so zero is well before now.
    static ZERO: LazyLock<Instant> = LazyLock::new(|| {
        let now = Instant::now();
        now.checked_sub(Duration::from_secs(86_400)).unwrap_or(now)
    });
    Moment::from_nanos(0) + now.saturating_duration_since(*ZERO)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn boot_now() -> Moment {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u32::try_from(now.tv_nsec).unwrap_or(0);
    Moment::from_nanos(0) + Duration::new(seconds, nanos)
}

/// On other systems the standard library's clock is the best without unsafe code. It counts suspend on Windows; on
/// macOS it stands still while the machine sleeps.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn boot_now() -> Moment {
    static ZERO: LazyLock<Instant> = LazyLock::new(Instant::now);
    Moment::from_nanos(0) + ZERO.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_never_run_backwards() {
        for clock in [Clock::Boot, Clock::Tokio, Clock::Real] {
            let first = clock.now();
            assert!(clock.now() >= first);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn tokio_clock_follows_paused_time() {
        let before = Clock::Tokio.now();
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert_eq!(Clock::Tokio.now().since(before), Duration::from_secs(3600));
    }

    #[tokio::test(start_paused = true)]
    async fn real_clock_ignores_paused_time() {
        let before = Clock::Real.now();
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert!(Clock::Real.now().since(before) < Duration::from_secs(3600));
    }

    #[test]
    fn tokio_clock_is_the_real_clock_outside_a_runtime() {
        let moments = [Clock::Real, Clock::Tokio, Clock::Real].map(Clock::now);
        assert!(moments.is_sorted(), "{moments:?}");
    }
}
