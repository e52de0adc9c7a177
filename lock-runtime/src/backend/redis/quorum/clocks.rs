//! What the answers of the nodes say about time: stamps of this client, clocks that are off, and how long answers take.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::backend::wire::ballot::patience::Patience;
use crate::background::moment::Moment;

/// How far the clock of a node may be from the median of all before its votes do not count.
const FARTHEST: Duration = Duration::from_millis(500);

/// The least time for which a node without an answer is waited for.
const LEAST_SILENCE: Duration = Duration::from_millis(20);

/// The least time after which the nodes of others are looked at again, beside two round trips.
const LEAST_LOOK: Duration = Duration::from_micros(500);

/// The clocks of the nodes, as this client sees them. Times of nodes are in µs since 1970, own times since the zero of
/// the own clock.
#[derive(Debug)]
pub(super) struct Clocks {
    /// By how much the foremost clock of a node is ahead of the own one when a command arrives there.
    lead: Option<f64>,
    nodes: Box<[NodeClock]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct NodeClock {
    /// By how much the node's clock is ahead of the own one, and how long its answers take.
    last: Option<(f64, Duration)>,
}

impl Clocks {
    pub(super) fn new(nodes: usize) -> Clocks {
        Clocks {
            lead: None,
            nodes: vec![NodeClock::default(); nodes].into(),
        }
    }

    /// A node answered at `now` to what was sent at `sent`, and said the time.
    pub(super) fn note(&mut self, node: usize, sent: Moment, now: Moment, node_now: u64) {
        let round_trip = now.since(sent);
        let ahead = node_now as f64 - micros(sent);
        let lead = self.lead.unwrap_or(ahead);
        self.lead = Some(match ahead > lead {
            true => ahead,
            false => lead + (ahead - lead) / 256.0,
        });
        let offset = ahead - round_trip.as_secs_f64() * 5e5;
        let smooth = match self.nodes[node].last {
            Some((_, before)) => (before * 7 + round_trip) / 8,
            None => round_trip,
        };
        self.nodes[node].last = Some((offset, smooth));
    }

    /// The place of a caller that begins to ask now in the order of all waiters, and the token that it proposes: the
    /// time on the foremost node when its request arrives there. Before any node was heard, it is this machine's time:
    /// all nodes must be given the same.
    pub(super) fn stamp(&self, now: Moment) -> u64 {
        let Some(lead) = self.lead else {
            // No lease is counted from this: it is a place in an order, and a node corrects one that is far off.
            #[allow(clippy::disallowed_methods)]
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            return now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(0));
        };
        let room = self.round_trip().as_secs_f64() * 1e6 / 8.0;
        (micros(now) + lead + room).max(0.0) as u64
    }

    /// By how much a node's clock is off the median of all, if that is too much to count its votes.
    pub(super) fn is_off_by(&self, node: usize) -> Option<Duration> {
        let mut offsets: Vec<f64> = self.heard().map(|(offset, _)| offset).collect();
        let (own, round_trip) = self.nodes[node].last?;
        if offsets.len() < 3 {
            return None;
        }
        offsets.sort_unstable_by(f64::total_cmp);
        let off = Duration::from_secs_f64((own - offsets[offsets.len() / 2]).abs() / 1e6);
        (off > FARTHEST + round_trip).then_some(off)
    }

    /// How long to wait for nodes.
    pub(super) fn patience(&self) -> Patience {
        let round_trip = self.round_trip();
        Patience {
            with_silence: LEAST_SILENCE.max(round_trip * 4),
            before_look: LEAST_LOOK + round_trip * 2,
        }
    }

    /// The median of how long the nodes' answers take.
    fn round_trip(&self) -> Duration {
        let mut round_trips: Vec<Duration> =
            self.heard().map(|(_, round_trip)| round_trip).collect();
        round_trips.sort_unstable();
        round_trips
            .get(round_trips.len() / 2)
            .copied()
            .unwrap_or_default()
    }

    fn heard(&self) -> impl Iterator<Item = (f64, Duration)> {
        self.nodes.iter().filter_map(|node| node.last)
    }
}

fn micros(moment: Moment) -> f64 {
    moment.as_nanos() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIX: u64 = 1_800_000_000_000_000;

    fn at(micros: u64) -> Moment {
        Moment::from_nanos(micros * 1_000)
    }

    /// A node whose clock is ahead of the own one by `UNIX` and `ahead`, and answers in 1 ms.
    fn hear(clocks: &mut Clocks, node: usize, sent: u64, ahead: i64) {
        let node_now = (UNIX + sent + 500).checked_add_signed(ahead).unwrap();
        clocks.note(node, at(sent), at(sent + 1_000), node_now);
    }

    #[test]
    fn stamp_is_the_time_on_the_foremost_node_when_the_request_arrives() {
        let mut clocks = Clocks::new(3);
        assert!(
            clocks.stamp(at(5)) > UNIX - 86_400_000_000 * 365,
            "no node was heard"
        );
        for (node, ahead) in [(0, 0), (1, 20_000), (2, -20_000)] {
            hear(&mut clocks, node, 0, ahead);
        }
        let stamp = clocks.stamp(at(10_000));
        let foremost = UNIX + 10_000 + 500 + 20_000;
        // An eighth of a round trip is added, and other samples have lowered the lead by a 256th each.
        assert!(stamp.abs_diff(foremost) < 500, "{stamp} {foremost}");
    }

    #[test]
    fn lead_follows_a_clock_that_was_set_back() {
        let mut clocks = Clocks::new(3);
        hear(&mut clocks, 0, 0, 10_000_000);
        for sample in 1..2_000 {
            hear(&mut clocks, 0, sample * 1_000, 0);
        }
        let stamp = clocks.stamp(at(2_000_000));
        assert!(stamp.abs_diff(UNIX + 2_000_000) < 10_000);
    }

    #[test]
    fn clock_far_from_the_median_is_off() {
        let mut clocks = Clocks::new(3);
        hear(&mut clocks, 0, 0, 0);
        hear(&mut clocks, 1, 0, 60_000_000);
        assert_eq!(clocks.is_off_by(1), None, "two nodes have no median");
        hear(&mut clocks, 2, 0, 100_000);
        assert_eq!(clocks.is_off_by(0), None);
        assert_eq!(clocks.is_off_by(2), None);
        let off = clocks.is_off_by(1).expect("it is a minute off");
        assert_eq!(off.as_secs(), 59);
    }

    #[test]
    fn patience_grows_with_the_round_trip() {
        let mut clocks = Clocks::new(3);
        assert_eq!(clocks.patience().with_silence, LEAST_SILENCE);
        for node in 0..3 {
            clocks.note(node, at(0), at(80_000), UNIX);
        }
        let patience = clocks.patience();
        assert_eq!(patience.with_silence, Duration::from_millis(320));
        assert_eq!(patience.before_look, Duration::from_micros(160_500));
    }
}
