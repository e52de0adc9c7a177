//! Upper bounds that know the machine they are asserted on.

use std::collections::VecDeque;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::wait::block;

/// The time since then, without the time for which this process was not scheduled.
///
/// For upper bounds, which measure the machine otherwise. Lower bounds compare the time that has
/// passed. It cannot leave out the stalls of other processes: a bound needs room for these.
pub fn ran_since(since: Instant) -> Duration {
    METER.ran_since(since)
}

/// Watches this process from now on. What starts a server or makes a client calls it, so that a test
/// need not.
pub(crate) fn watch() {
    LazyLock::force(&METER);
}

/// How often the meter looks. It does not notice a stall that is shorter.
const TICK: Duration = Duration::from_millis(5);

/// The number of stalls that are remembered: minutes, on a machine that stalls all the time.
const REMEMBERED: usize = 10_000;

/// The meter of this process. Its thread never ends.
static METER: LazyLock<Meter> = LazyLock::new(|| {
    let meter = Meter(Mutex::new(Readings {
        woke: Instant::now(),
        stalls: VecDeque::with_capacity(REMEMBERED),
    }));
    let thread = std::thread::Builder::new().name("stall-meter".to_owned());
    let started = thread.spawn(|| {
        loop {
            block(TICK);
            METER.read();
        }
    });
    started.expect("the machine has room for a thread");
    meter
});

/// A thread that sleeps for a tick, again and again, and notes by how much it wakes too late.
struct Meter(Mutex<Readings>);

struct Readings {
    /// When the thread last woke.
    woke: Instant,
    /// When each stall ended, and how long it was.
    stalls: VecDeque<(Instant, Duration)>,
}

impl Readings {
    /// How long the process was not scheduled since the thread last woke.
    fn stall(&self, now: Instant) -> Duration {
        let late = now.duration_since(self.woke).saturating_sub(TICK);
        if late < TICK { Duration::ZERO } else { late }
    }
}

impl Meter {
    fn read(&self) {
        let mut readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let stall = readings.stall(now);
        if !stall.is_zero() {
            // Never more than it has room for: tests count allocations.
            if readings.stalls.len() == REMEMBERED {
                readings.stalls.pop_front();
            }
            readings.stalls.push_back((now, stall));
        }
        readings.woke = now;
    }

    fn ran_since(&self, since: Instant) -> Duration {
        let readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One time for both, so that a stall counts in both or in neither.
        let now = Instant::now();
        // A stall that has just ended: the thread may not have run yet.
        let last = (now, readings.stall(now));
        let stalls = readings.stalls.iter().rev().chain([&last]);
        let stalled = stalls
            .filter(|(ended, _)| *ended > since)
            // A stall may have begun before.
            .map(|(ended, stall)| (*stall).min(*ended - since));
        now.saturating_duration_since(since)
            .saturating_sub(stalled.sum())
    }
}
