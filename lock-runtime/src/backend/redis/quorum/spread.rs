//! Measures how far apart the nodes' clocks are. Decides without I/O.

use std::cmp::Ordering;
use std::time::Duration;

/// Operators are warned from this distance on. At twice the distance, the votes of a node do not count.
const WIDE: Duration = Duration::from_millis(250);

/// A node's answer about its clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) node: usize,
    /// How far the clock is ahead of ours (µs).
    pub(super) offset: f64,
    /// How far that may be wrong.
    pub(super) doubt: Duration,
}

/// Two clocks that are too far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    /// The node whose clock is off, as far as can be known: the one farther from the median.
    pub(super) node: usize,
    pub(super) other: usize,
    pub(super) apart: Duration,
}

impl Spread {
    /// Returns the two nodes whose clocks are farthest apart, if the distance is large and no late answer explains it.
    pub(super) fn of(mut readings: Vec<Reading>) -> Option<Spread> {
        readings.sort_unstable_by(|one, other| one.offset.total_cmp(&other.offset));
        let median = readings.get(readings.len() / 2)?.offset;
        let pairs = readings.iter().enumerate().flat_map(|(place, behind)| {
            let rest = readings[place + 1..].iter();
            rest.map(move |ahead| (behind, ahead))
        });
        let wide = pairs
            .filter(|(behind, ahead)| distance(behind, ahead) >= WIDE + behind.doubt + ahead.doubt);
        let (behind, ahead) = wide.max_by_key(|(behind, ahead)| distance(behind, ahead))?;
        let (node, other) = match (median - behind.offset).total_cmp(&(ahead.offset - median)) {
            Ordering::Greater => (behind, ahead),
            Ordering::Less | Ordering::Equal => (ahead, behind),
        };
        Some(Spread {
            node: node.node,
            other: other.node,
            apart: distance(behind, ahead),
        })
    }
}

fn distance(behind: &Reading, ahead: &Reading) -> Duration {
    Duration::from_secs_f64((ahead.offset - behind.offset) / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the spread of clocks that are this many ms ahead, each known to within 1 ms.
    fn spread(ahead: &[f64]) -> Option<(usize, usize, u128)> {
        let reading = |(node, ahead): (usize, &f64)| Reading {
            node,
            offset: ahead * 1e3,
            doubt: Duration::from_millis(1),
        };
        let spread = Spread::of(ahead.iter().enumerate().map(reading).collect());
        spread.map(|it| (it.node, it.other, it.apart.as_millis()))
    }

    #[test]
    fn clocks_that_are_close_are_not_reported() {
        for ahead in [&[][..], &[900.0], &[0.0, 0.0], &[7.0, 240.0, -11.0]] {
            assert_eq!(spread(ahead), None, "{ahead:?}");
        }
        assert_eq!(spread(&[0.0, 251.9]), None, "it may be less");
        assert!(spread(&[0.0, 252.0]).is_some());
    }

    #[test]
    fn node_that_is_off_is_named_before_the_other() {
        assert_eq!(spread(&[0.0, 300.0, 10.0]), Some((1, 0, 300)));
        assert_eq!(spread(&[0.0, 10.0, -300.0]), Some((2, 1, 310)));
        // Each clock is closer to the median than that.
        assert_eq!(spread(&[0.0, 160.0, -150.0]), Some((1, 2, 310)));
        let five = [0.0, 60_000.0, 3.0, -1.0, 400.0];
        assert_eq!(spread(&five), Some((1, 3, 60_001)));
    }

    /// The late node's clock may be right.
    #[test]
    fn answer_that_was_late_hides_no_other_node() {
        let reading = |node, ahead, doubt| Reading {
            node,
            offset: ahead * 1e3,
            doubt: Duration::from_millis(doubt),
        };
        let late = reading(0, 500.0, 400);
        assert_eq!(Spread::of(vec![late, reading(1, 0.0, 1)]), None);
        let all = vec![late, reading(1, 0.0, 1), reading(2, 300.0, 1)];
        let spread = Spread::of(all).expect("two are 300 ms apart");
        assert_eq!([spread.node, spread.other], [1, 2]);
    }
}
