//! What the answers of the nodes say about time: stamps of this client, clocks that are off, and how long answers take.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::backend::wire::ballot::patience::{LEAST_LOOK, Patience};
use crate::background::moment::Moment;

/// How far the clock of a node may be from the median of all before its votes do not count.
const FARTHEST: Duration = Duration::from_millis(500);

/// An answer that took longer than this many times the usual says little about the clock: which of the two ways was slow is
/// not known.
const USUAL: u32 = 2;

/// After this long without a usual answer, any is taken.
const LONGEST_WITHOUT: Duration = Duration::from_secs(5);

/// The clocks of the nodes, as this client sees them. Times of nodes are in µs since 1970, own times since the zero of
/// the own clock.
#[derive(Debug)]
pub(super) struct Clocks {
    nodes: Box<[Option<NodeClock>]>,
}

#[derive(Clone, Copy, Debug)]
struct NodeClock {
    /// By how much the node's clock is ahead of the own one (µs).
    offset: f64,
    /// How long its answers take.
    round_trip: Duration,
    /// When the answer came from which these are.
    at: Moment,
}

impl Clocks {
    pub(super) fn new(nodes: usize) -> Clocks {
        Clocks {
            nodes: vec![None; nodes].into(),
        }
    }

    /// A node answered at `now` to what was sent at `sent`, and said the time.
    pub(super) fn note(&mut self, node: usize, sent: Moment, now: Moment, node_now: u64) {
        let round_trip = now.since(sent);
        let offset = node_now as f64 - micros(sent) - round_trip.as_secs_f64() * 5e5;
        let round_trip = match self.nodes[node] {
            Some(before) => {
                let is_usual = round_trip <= before.round_trip * USUAL + LEAST_LOOK;
                // However late it is, a clock that was set is seen.
                let (least, most) = (
                    node_now as f64 - micros(now),
                    node_now as f64 - micros(sent),
                );
                let fits = (least..=most).contains(&before.offset);
                if !is_usual && fits && now.since(before.at) < LONGEST_WITHOUT {
                    return;
                }
                (before.round_trip * 7 + round_trip) / 8
            }
            None => round_trip,
        };
        let at = now;
        self.nodes[node] = Some(NodeClock {
            offset,
            round_trip,
            at,
        });
    }

    /// Whether so many nodes were heard that stamps are good.
    pub(super) fn is_heard(&self) -> bool {
        self.heard().count() > self.nodes.len() / 2
    }

    /// The place of a caller that begins to ask now in the order of all waiters, and the token that it proposes: the
    /// time on the foremost node when its request arrives there, of those whose clock is not off. Before any node was
    /// heard, it is this machine's time.
    pub(super) fn stamp(&self, now: Moment) -> u64 {
        let right = (0..self.nodes.len()).filter(|&node| self.is_off_by(node).is_none());
        let clocks = right.filter_map(|node| self.nodes[node]);
        let lead = clocks
            .map(|clock| clock.offset + clock.round_trip.as_secs_f64() * 5e5)
            .max_by(f64::total_cmp);
        let Some(lead) = lead else {
            // No lease is counted from this.
            #[allow(clippy::disallowed_methods)]
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            return now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(0));
        };
        let room = self.round_trip().as_secs_f64() * 1e6 / 8.0;
        (micros(now) + lead + room).max(0.0) as u64
    }

    /// By how much a node's clock is off those of the others, if that is too much to count its votes: off the median, or
    /// off the other one if two were heard, of which either may be wrong.
    pub(super) fn is_off_by(&self, node: usize) -> Option<Duration> {
        let own = self.nodes[node]?;
        let mut others: Vec<f64> = self.heard().map(|clock| clock.offset).collect();
        others.sort_unstable_by(f64::total_cmp);
        let off = match others[..] {
            [first, second] => second - first,
            _ => (own.offset - others[others.len() / 2]).abs(),
        };
        let off = Duration::from_secs_f64(off / 1e6);
        (off > FARTHEST + own.round_trip).then_some(off)
    }

    /// The nodes whose clocks are off, and by how much.
    pub(super) fn off(&self) -> Vec<(usize, Duration)> {
        let nodes = 0..self.nodes.len();
        nodes
            .filter_map(|node| Some((node, self.is_off_by(node)?)))
            .collect()
    }

    /// How long to wait for nodes.
    pub(super) fn patience(&self) -> Patience {
        Patience::of(self.round_trip())
    }

    /// The median of how long the nodes' answers take.
    fn round_trip(&self) -> Duration {
        let mut round_trips: Vec<Duration> = self.heard().map(|clock| clock.round_trip).collect();
        round_trips.sort_unstable();
        let middle = round_trips.get(round_trips.len() / 2);
        middle.copied().unwrap_or_default()
    }

    fn heard(&self) -> impl Iterator<Item = &NodeClock> {
        self.nodes.iter().flatten()
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

    /// The time on a node without an offset when what is sent at `now` arrives, and an eighth of a round trip.
    fn arrival(now: u64) -> u64 {
        UNIX + now + 500 + 125
    }

    #[test]
    fn stamp_is_the_time_on_the_foremost_node_when_the_request_arrives() {
        let mut clocks = Clocks::new(3);
        assert!(!clocks.is_heard());
        for (node, ahead) in [(0, 0), (1, 20_000), (2, -20_000)] {
            hear(&mut clocks, node, 0, ahead);
        }
        assert!(clocks.is_heard());
        let stamp = clocks.stamp(at(10_000));
        assert!(stamp.abs_diff(arrival(10_000) + 20_000) <= 1, "{stamp}");
    }

    #[test]
    fn stamp_follows_a_clock_that_was_set() {
        let mut clocks = Clocks::new(3);
        for ahead in [200_000, 0, 100_000] {
            hear(&mut clocks, 0, 0, ahead);
            let stamp = clocks.stamp(at(0));
            assert!(stamp.abs_diff(arrival(0).checked_add_signed(ahead).unwrap()) <= 1);
        }
    }

    #[test]
    fn clock_that_is_off_leads_no_stamp() {
        let mut clocks = Clocks::new(3);
        for (node, ahead) in [(0, 0), (1, 2_000_000), (2, 0)] {
            hear(&mut clocks, node, 0, ahead);
        }
        assert!(clocks.stamp(at(0)).abs_diff(arrival(0)) <= 1);
    }

    #[test]
    fn late_answer_changes_nothing_for_a_while() {
        let mut clocks = Clocks::new(3);
        for node in 0..3 {
            hear(&mut clocks, node, 0, 0);
        }
        // The node was stopped for 3 s, and says when it went on.
        clocks.note(0, at(10_000), at(3_010_000), UNIX + 3_009_900);
        assert_eq!(clocks.is_off_by(0), None);
        let stamp = clocks.stamp(at(3_010_000));
        assert!(stamp.abs_diff(arrival(3_010_000)) <= 1, "{stamp}");
        // The clock of another one was set while its answer was late.
        clocks.note(1, at(10_000), at(3_010_000), UNIX + 63_009_900);
        assert!(clocks.is_off_by(1).is_some());
        // The way there has become longer.
        clocks.note(0, at(6_000_000), at(6_080_000), UNIX + 6_040_000);
        assert!(clocks.nodes[0].unwrap().round_trip > Duration::from_millis(10));
    }

    #[test]
    fn clock_far_from_the_median_is_off() {
        let mut clocks = Clocks::new(3);
        hear(&mut clocks, 0, 0, 0);
        assert_eq!(clocks.is_off_by(0), None, "nothing is known of the others");
        hear(&mut clocks, 1, 0, 60_000_000);
        assert_eq!(clocks.off().len(), 2, "either may be wrong");
        hear(&mut clocks, 2, 0, 100_000);
        let off = clocks.off();
        assert_eq!(off.len(), 1);
        assert_eq!((off[0].0, off[0].1.as_secs()), (1, 59));
    }

    #[test]
    fn patience_grows_with_the_round_trip() {
        let mut clocks = Clocks::new(3);
        assert_eq!(clocks.patience(), Patience::of(Duration::ZERO));
        for node in 0..3 {
            clocks.note(node, at(0), at(80_000), UNIX);
        }
        let patience = clocks.patience();
        assert_eq!(patience.with_silence, Duration::from_millis(320));
        assert_eq!(patience.before_look, Duration::from_micros(160_500));
    }
}
