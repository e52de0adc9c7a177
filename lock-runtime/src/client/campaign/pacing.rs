//! Decides whether a campaign stands again, and after which pause.

use std::time::Duration;

use crate::error::LockErrorKind;

/// The least time between two calls that find the lock busy. A call that waited this long has stood in the queue, and
/// stands again at once.
const STAND: Duration = Duration::from_secs(1);

/// By how much of it the pause after a busy lock varies, so that candidates that started together drift apart.
const JITTER: f64 = 0.25;

/// The pauses while the lock is unavailable double from the shortest to the longest. The upper half of each is random.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The failures of a campaign so far.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    /// The number of calls in a row that found the lock unavailable.
    unavailable: u32,
}

impl Pacing {
    /// Notes that a call had its lock.
    pub(super) fn led(&mut self) {
        self.unavailable = 0;
    }

    /// Returns the pause after a call whose lock failed in this way, after the call had stood for the lock for a time;
    /// `None` if the campaign is over. `random` is from 0 to 1.
    pub(super) fn pause(
        &mut self,
        kind: LockErrorKind,
        stood: Duration,
        random: f64,
    ) -> Option<Duration> {
        if kind == LockErrorKind::Unavailable {
            let doubled = SHORTEST_PAUSE.saturating_mul(2 << self.unavailable.min(10));
            self.unavailable = self.unavailable.saturating_add(1);
            let most = doubled.min(LONGEST_PAUSE);
            return Some(most.mul_f64(0.5 + random / 2.0));
        }
        self.unavailable = 0;
        match kind {
            LockErrorKind::Busy if stood < STAND => {
                Some(STAND.mul_f64(1.0 - JITTER + 2.0 * JITTER * random))
            }
            LockErrorKind::Busy | LockErrorKind::Lost => Some(Duration::ZERO),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Duration = Duration::ZERO;

    fn ms(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }

    #[test]
    fn wait_of_a_busy_call_was_its_stand() {
        let mut pacing = Pacing::default();
        let mut pause = |stood, random| {
            let stood = Duration::from_millis(stood);
            pacing.pause(LockErrorKind::Busy, stood, random)
        };
        assert_eq!(pause(1_000, 0.0), ms(0));
        assert_eq!(pause(3_600_000, 1.0), ms(0));
        assert_eq!(pause(999, 0.0), ms(750));
        assert_eq!(pause(0, 0.5), ms(1_000));
        assert_eq!(pause(0, 1.0), ms(1_250));
    }

    #[test]
    fn lost_lock_is_stood_for_at_once() {
        let mut pacing = Pacing::default();
        assert_eq!(pacing.pause(LockErrorKind::Lost, NOTHING, 1.0), ms(0));
    }

    #[test]
    fn pauses_of_an_outage_grow_from_a_tenth_of_a_second_to_five() {
        let pauses = |random| {
            let mut pacing = Pacing::default();
            [(); 8].map(|()| pacing.pause(LockErrorKind::Unavailable, NOTHING, random))
        };
        let shortest = [100, 200, 400, 800, 1_600, 2_500, 2_500, 2_500].map(ms);
        assert_eq!(pauses(0.0), shortest);
        let longest = [200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000].map(ms);
        assert_eq!(pauses(1.0), longest);
    }

    #[test]
    fn long_outage_is_counted_without_an_overflow() {
        let mut pacing = Pacing {
            unavailable: u32::MAX - 1,
        };
        for _ in 0..3 {
            assert_eq!(
                pacing.pause(LockErrorKind::Unavailable, NOTHING, 1.0),
                ms(5_000)
            );
        }
    }

    #[test]
    fn pauses_begin_again_after_any_other_answer() {
        let mut pacing = Pacing::default();
        let ends: [fn(&mut Pacing); 3] = [
            |pacing| pacing.led(),
            |pacing| _ = pacing.pause(LockErrorKind::Busy, NOTHING, 0.0),
            |pacing| _ = pacing.pause(LockErrorKind::Lost, NOTHING, 0.0),
        ];
        for end in ends {
            for _ in 0..3 {
                pacing.pause(LockErrorKind::Unavailable, NOTHING, 0.0);
            }
            end(&mut pacing);
            let next = pacing.pause(LockErrorKind::Unavailable, NOTHING, 0.0);
            assert_eq!(next, ms(100));
            pacing = Pacing::default();
        }
    }

    #[test]
    fn campaign_ends_with_a_failure_that_another_stand_would_not_mend() {
        for kind in [
            LockErrorKind::Rejected,
            LockErrorKind::InvalidKey,
            LockErrorKind::InvalidOptions,
            LockErrorKind::Reentered,
            LockErrorKind::OutOfOrder,
            LockErrorKind::NotInstalled,
            LockErrorKind::Shutdown,
        ] {
            assert_eq!(
                Pacing::default().pause(kind, NOTHING, 0.5),
                None,
                "{kind:?}"
            );
        }
    }
}
