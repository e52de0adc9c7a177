//! When to ask again.

use std::time::Duration;

use crate::backend::wire::Waiting;

/// A waiter asks at least this often. It counts as alive for ten times as long.
pub(crate) const LONGEST: Duration = Duration::from_millis(600);

/// A foreign holder hands nothing on, so it is asked after more often.
const FOREIGN: Duration = Duration::from_millis(200);

/// Those behind the head ask later, so that it is the first to ask.
const PER_PLACE: Duration = Duration::from_millis(20);

/// The time until the next poll; `jitter` is between 0 and 1.
pub(crate) fn next_poll(waiting: &Waiting, jitter: f64) -> Duration {
    let ceiling = if waiting.holder.is_foreign() {
        FOREIGN.mul_f64(0.75 + jitter.clamp(0.0, 1.0) / 2.0)
    } else {
        LONGEST
    };
    let Some(remaining) = waiting.remaining else {
        return ceiling;
    };
    let turn = PER_PLACE.saturating_mul(waiting.position.saturating_sub(1));
    remaining
        .saturating_add(Duration::from_millis(1))
        .saturating_add(turn)
        .min(ceiling)
}

/// The time until an attempt after `failures` that were not answered; `jitter` is between 0 and 1.
pub(crate) fn backoff(failures: u32, jitter: f64) -> Duration {
    let ceiling = Duration::from_millis(10).saturating_mul(1 << failures.min(5));
    ceiling.mul_f64(0.5 + jitter.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::Holder;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn waiting(remaining: Option<u64>, position: u32, holder: Holder) -> Waiting {
        Waiting {
            remaining: remaining.map(ms),
            position,
            holder,
        }
    }

    fn ours() -> Holder {
        Holder::Ours(String::new())
    }

    #[test]
    fn the_head_asks_as_soon_as_the_lease_can_be_over() {
        assert_eq!(next_poll(&waiting(Some(250), 1, ours()), 0.5), ms(251));
        assert_eq!(
            next_poll(&waiting(Some(0), 1, ours()), 0.5),
            ms(1),
            "0 is seen while K exists"
        );
    }

    #[test]
    fn those_behind_ask_later_and_all_ask_within_600_ms() {
        assert_eq!(next_poll(&waiting(Some(250), 3, ours()), 0.5), ms(291));
        assert_eq!(
            next_poll(&waiting(Some(250), 1_000_000, ours()), 0.5),
            ms(600)
        );
        assert_eq!(next_poll(&waiting(Some(30_000), 1, ours()), 0.5), ms(600));
        assert_eq!(next_poll(&waiting(None, 1, ours()), 0.5), ms(600));
    }

    #[test]
    fn a_foreign_holder_is_asked_after_every_200_ms_or_so() {
        for jitter in [0.0, 0.3, 1.0] {
            let poll = next_poll(&waiting(None, 1, Holder::Foreign), jitter);
            assert!((ms(150)..=ms(250)).contains(&poll), "{poll:?}");
        }
        assert_eq!(
            next_poll(&waiting(Some(10), 1, Holder::Foreign), 0.0),
            ms(11)
        );
    }

    #[test]
    fn attempts_after_failures_spread_out_to_a_third_of_a_second() {
        assert!(backoff(0, 1.0) <= ms(10));
        assert!(backoff(3, 0.0) >= ms(40));
        assert!(backoff(u32::MAX, 1.0) <= ms(320));
    }
}
