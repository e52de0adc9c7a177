//! A point on a clock.

use std::ops::Add;
use std::time::Duration;

/// Nanoseconds since the zero of the clock that was read; only comparable within that clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(u64);

impl Moment {
    /// Later than every other moment: the end of a lease without `max_hold`.
    pub(crate) const NEVER: Moment = Moment(u64::MAX);

    /// Not later than any other moment.
    pub(crate) const FIRST: Moment = Moment(0);

    pub(crate) const fn from_nanos(nanos: u64) -> Moment {
        Moment(nanos)
    }

    pub(crate) const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to this moment; zero if this moment is the earlier one.
    pub(crate) fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
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
    fn time_since_a_later_moment_is_zero() {
        let earlier = Moment::from_nanos(10);
        let later = earlier + Duration::from_nanos(7);
        assert_eq!(later.since(earlier), Duration::from_nanos(7));
        assert_eq!(earlier.since(later), Duration::ZERO);
    }
}
