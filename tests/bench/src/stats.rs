//! Statistics of measurements.

use std::time::Duration;

/// Times of one kind, sorted.
#[derive(Debug)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
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

    /// The time that this percentage of the times do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0[rank.max(1) - 1]
    }
}

/// The middle value; for an even number of values, the mean of the middle two.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    assert!(!values.is_empty(), "nothing was measured");
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

/// Per second.
pub(crate) fn rate(count: usize, time: Duration) -> f64 {
    float(count) / time.as_secs_f64()
}

/// The ratio of the two.
pub(crate) fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "counts stay below 2^52")]
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_does_not_depend_on_the_order() {
        for (values, middle) in [
            (&[9.0, 1.0, 2.0][..], 2.0),
            (&[4.0, 1.0, 2.0, 100.0], 3.0),
            (&[7.0], 7.0),
        ] {
            assert!((median(values.iter().copied()) - middle).abs() < 1e-9);
        }
    }

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times = Times::new((1..=200).rev().map(Duration::from_millis).collect());
        assert_eq!(times.median(), Duration::from_millis(100));
        assert_eq!(times.percentile(99), Duration::from_millis(198));
        assert_eq!(times.max(), Duration::from_millis(200));
    }
}
