//! A point on a clock.

use std::num::NonZeroU64;
use std::ops::Add;
use std::time::Duration;

/// Nanoseconds since the zero of the clock that was read; only comparable within that clock.
///
/// Stored plus one, so that `Option<Moment>` is no larger: every held lock has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Moment(NonZeroU64);

impl Moment {
    /// Later than every other moment: the end of a lease without `max_hold`.
    pub(crate) const NEVER: Moment = Moment(NonZeroU64::MAX);

    /// Not later than any other moment.
    pub(crate) const FIRST: Moment = Moment(NonZeroU64::MIN);

    pub(crate) const fn from_nanos(nanos: u64) -> Moment {
        Moment(NonZeroU64::MIN.saturating_add(nanos))
    }

    pub(crate) const fn as_nanos(self) -> u64 {
        self.0.get() - 1
    }

    /// The time from `earlier` to this moment; zero if `earlier` is later.
    pub(crate) fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.get().saturating_sub(earlier.0.get()))
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;

    fn add(self, span: Duration) -> Moment {
        let nanos = u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        Moment(self.0.saturating_add(nanos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn span_too_long_to_count_ends_never() {
        assert_eq!(Moment::from_nanos(5) + Duration::MAX, Moment::NEVER);
    }

    #[test]
    fn moment_is_stored_with_an_offset_of_one() {
        for nanos in [0, 1, u64::MAX - 1] {
            assert_eq!(Moment::from_nanos(nanos).as_nanos(), nanos);
        }
        let never = Moment::from_nanos(Moment::NEVER.as_nanos());
        assert_eq!(never, Moment::NEVER);
        assert_eq!(Moment::from_nanos(u64::MAX), Moment::NEVER);
        assert_eq!(Moment::from_nanos(0), Moment::FIRST);
        assert_eq!(size_of::<Option<Moment>>(), size_of::<Moment>());
    }

    #[test]
    fn time_since_a_later_moment_is_zero() {
        let earlier = Moment::from_nanos(10);
        let later = earlier + Duration::from_nanos(7);
        assert_eq!(later.since(earlier), Duration::from_nanos(7));
        assert_eq!(earlier.since(later), Duration::ZERO);
    }
}
