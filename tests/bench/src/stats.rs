//! Statistics of measurements.

use std::time::Duration;

/// Times of one kind, sorted.
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

    /// The time that this many percent do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0[rank.max(1) - 1]
    }
}

/// The middle value; for an even number of values, the mean of the two in the middle.
///
/// # Panics
///
/// When there are none.
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

/// Jain's index of fairness: 1 if all shares are equal, 1/n if one of n has everything.
///
/// The index is 1 if all shares are 0, or if there are none.
pub(crate) fn jain(shares: &[usize]) -> f64 {
    let sum: f64 = shares.iter().copied().map(float).sum();
    let squares: f64 = shares.iter().map(|&share| float(share).powi(2)).sum();
    if squares == 0.0 {
        return 1.0;
    }
    sum.powi(2) / (float(shares.len()) * squares)
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

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn a_median_is_in_the_middle_whatever_the_order() {
        assert!(close(median([9.0, 1.0, 2.0]), 2.0));
        assert!(close(median([4.0, 1.0, 2.0, 100.0]), 3.0));
        assert!(close(median([7.0]), 7.0));
    }

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let times = Times::new((1..=200).rev().map(Duration::from_millis).collect());
        assert_eq!(times.median(), Duration::from_millis(100));
        assert_eq!(times.percentile(99), Duration::from_millis(198));
        assert_eq!(times.max(), Duration::from_millis(200));
        let one = Times::new(vec![Duration::from_millis(3)]);
        assert_eq!(one.percentile(1), Duration::from_millis(3));
    }

    #[test]
    fn the_index_is_one_for_equal_shares_and_falls_to_one_of_n() {
        assert!(close(jain(&[5, 5, 5, 5]), 1.0));
        assert!(close(jain(&[20, 0, 0, 0]), 0.25));
        assert!(close(jain(&[2, 1]), 0.9));
        assert!(close(jain(&[0, 0]), 1.0));
        assert!(close(jain(&[]), 1.0));
    }
}
