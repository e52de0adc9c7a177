//! Decides when a waiter polls.

use std::time::Duration;

use crate::backend::wire::reply::Waiting;
use crate::lease::record::Holder;

/// The longest time between two polls. A waiter is considered alive for ten times as long. On a shared lock it is
/// skipped after two and a half times as long, until it polls again.
pub(crate) const LONGEST: Duration = Duration::from_millis(600);

/// The longest time between two polls of a foreign lock, which its holder does not hand off.
const FOREIGN: Duration = Duration::from_millis(200);

/// The shortest time between two polls of a foreign lock. Clients that retry in a loop poll about as often, so the lock
/// may be free for no longer than this when it passes between them.
const FOREIGN_AT_FIRST: Duration = Duration::from_millis(3);

/// How many callers of a client may start at this pace. If there are more, all start more slowly.
const QUICK_CALLERS: usize = 64;

/// Added for each place behind the head, so that the head polls first.
const PER_PLACE: Duration = Duration::from_millis(20);

/// Computes the time until the next poll.
#[derive(Debug, Default)]
pub(crate) struct PollInterval {
    /// The last foreign holder, and how many polls in a row have found it.
    foreign: Option<(u64, u32)>,
}

impl PollInterval {
    /// Returns the time until the next poll after this answer, if the client has this many `callers`. `jitter` is
    /// between 0 and 1.
    pub(crate) fn after(&mut self, waiting: &Waiting, callers: usize, jitter: f64) -> Duration {
        let behind_head = PER_PLACE.saturating_mul(waiting.position.saturating_sub(1));
        let ceiling = match waiting.holder {
            Holder::Foreign(holder) => {
                let before = self.foreign.filter(|&(other, _)| other == holder);
                let polls = before.map_or(0, |(_, polls)| polls);
                self.foreign = Some((holder, polls.saturating_add(1)));
                let crowd = u32::try_from(callers / QUICK_CALLERS)
                    .unwrap_or(u32::MAX)
                    .max(1);
                let first = FOREIGN_AT_FIRST.saturating_mul(crowd);
                let pause = first
                    .saturating_mul(1 << polls.min(10))
                    .saturating_add(behind_head);
                pause
                    .min(FOREIGN)
                    .mul_f64(0.75 + jitter.clamp(0.0, 1.0) / 2.0)
            }
            // No message reaches an owner outside the queue, so it polls as often as for a foreign lock.
            _ if waiting.position == 0 => FOREIGN.mul_f64(0.75 + jitter.clamp(0.0, 1.0) / 4.0),
            Holder::Ours(_) | Holder::Shared(_) | Holder::Redisson(_) => {
                self.foreign = None;
                LONGEST
            }
        };
        let remaining = waiting.remaining.unwrap_or(Duration::MAX);
        remaining
            .saturating_add(Duration::from_millis(1))
            .saturating_add(behind_head)
            .min(ceiling)
    }
}

/// Returns the time until the next attempt after this many `failures` in a row. `jitter` is between 0 and 1.
pub(crate) fn backoff(failures: u32, jitter: f64) -> Duration {
    let ceiling = Duration::from_millis(10).saturating_mul(1 << failures.min(5));
    ceiling.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn waiting(remaining: Option<u64>, position: u32, holder: Holder) -> Waiting {
        Waiting {
            remaining: remaining.map(ms),
            position,
            holder,
            lock: 0,
            holds_later: false,
        }
    }

    fn ours() -> Holder {
        Holder::Ours(String::new())
    }

    fn first_poll(remaining: Option<u64>, position: u32, holder: Holder) -> Duration {
        PollInterval::default().after(&waiting(remaining, position, holder), 1, 0.5)
    }

    #[test]
    fn head_polls_as_soon_as_the_lease_can_be_over() {
        assert_eq!(first_poll(Some(250), 1, ours()), ms(251));
        assert_eq!(
            first_poll(Some(0), 1, ours()),
            ms(1),
            "the server rounds down to 0 while the record exists"
        );
    }

    #[test]
    fn waiters_behind_the_head_poll_later_and_all_poll_within_600_ms() {
        assert_eq!(first_poll(Some(250), 3, ours()), ms(291));
        assert_eq!(first_poll(Some(250), 1_000_000, ours()), ms(600));
        assert_eq!(first_poll(Some(30_000), 1, ours()), ms(600));
        assert_eq!(first_poll(None, 1, ours()), ms(600));
    }

    #[test]
    fn foreign_lock_is_polled_soon_and_then_about_every_200_ms() {
        for jitter in [0.0, 0.3, 1.0] {
            let mut polls = PollInterval::default();
            let mut pauses = (0..20).map(|_| {
                let held = waiting(None, 1, Holder::Foreign(7));
                polls.after(&held, 1, jitter)
            });
            let first = pauses.next().unwrap();
            assert!((ms(2)..=ms(4)).contains(&first), "{first:?}");
            let last = pauses.last().unwrap();
            assert!((ms(150)..=ms(250)).contains(&last), "{last:?}");
        }
        assert_eq!(first_poll(Some(0), 1, Holder::Foreign(7)), ms(1));
    }

    #[test]
    fn lock_without_a_queue_is_polled_when_its_lease_can_be_over_and_each_200_ms() {
        for jitter in [0.0, 0.3, 1.0] {
            let poll = |remaining, holder| {
                PollInterval::default().after(&waiting(remaining, 0, holder), 1, jitter)
            };
            let holder = || Holder::Redisson("a:1".to_owned());
            assert_eq!(poll(Some(90), holder()), ms(91));
            for poll in [poll(Some(30_000), holder()), poll(None, ours())] {
                assert!((ms(150)..=ms(200)).contains(&poll), "{poll:?}");
            }
        }
    }

    #[test]
    fn foreign_lock_with_a_new_holder_is_polled_soon_again() {
        let mut polls = PollInterval::default();
        for _ in 0..9 {
            polls.after(&waiting(None, 1, Holder::Foreign(7)), 1, 0.5);
        }
        let again = polls.after(&waiting(None, 1, Holder::Foreign(8)), 1, 0.5);
        assert!(again <= ms(4), "{again:?}");
        for _ in 0..9 {
            polls.after(&waiting(None, 1, Holder::Foreign(8)), 1, 0.5);
        }
        polls.after(&waiting(None, 1, ours()), 1, 0.5);
        let back = polls.after(&waiting(None, 1, Holder::Foreign(8)), 1, 0.5);
        assert!(back <= ms(4), "{back:?}");
    }

    #[test]
    fn many_callers_poll_no_more_often_than_few() {
        let held = waiting(None, 1, Holder::Foreign(7));
        let first = |callers| PollInterval::default().after(&held, callers, 0.5);
        assert_eq!(first(1), first(QUICK_CALLERS));
        assert!(first(20 * QUICK_CALLERS) > ms(40));
        assert!(first(usize::MAX) <= ms(250));
    }

    #[test]
    fn head_polls_a_foreign_lock_more_often_than_waiters_behind_it() {
        assert!(first_poll(None, 2, Holder::Foreign(7)) > ms(15));
        assert!(first_poll(None, 1_000, Holder::Foreign(7)) <= ms(250));
    }

    #[test]
    fn attempts_after_failures_spread_out_to_a_third_of_a_second() {
        assert!(backoff(0, 1.0) <= ms(10));
        assert!(backoff(3, 0.0) >= ms(40));
        assert!(backoff(u32::MAX, 1.0) <= ms(320));
    }
}
