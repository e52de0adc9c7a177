//! What many measurements say together.

use std::fmt;
use std::time::Duration;

/// Times of one kind, in order of length.
#[derive(Debug)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    /// # Panics
    ///
    /// When there are none.
    pub(crate) fn new(mut times: Vec<Duration>) -> Times {
        assert!(!times.is_empty(), "nothing was measured");
        times.sort_unstable();
        Times(times)
    }

    pub(crate) fn median(&self) -> Duration {
        self.percentile(50)
    }

    pub(crate) fn max(&self) -> Duration {
        self.percentile(100)
    }

    /// The time that so many of a hundred do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0[rank.max(1) - 1]
    }
}

/// A time in the unit that suits it.
pub(crate) struct Short(pub(crate) Duration);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < Duration::from_millis(10) {
            write!(f, "{} µs", self.0.as_micros())
        } else {
            write!(f, "{} ms", self.0.as_millis())
        }
    }
}
