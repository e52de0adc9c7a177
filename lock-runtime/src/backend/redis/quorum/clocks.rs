//! Derives from the nodes' answers: this client's stamps, which clocks are off, and how long answers take.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use smallvec::SmallVec;

use super::ballot::patience::{LEAST_LOOK, Patience};
use super::spread::{Reading, Spread};
use crate::background::moment::Moment;

/// How far a node's clock may be off the median of all nodes before its votes no longer count.
const FARTHEST: Duration = Duration::from_millis(500);

/// An answer that took longer than this many times the usual is poor evidence about the clock, since either direction
/// may have been slow.
const USUAL: u32 = 2;

/// After this long without a usual answer, any answer is accepted.
const LONGEST_WITHOUT: Duration = Duration::from_secs(5);

/// If a node's clock has moved by this much relative to ours, one of the two was set or stood still. Earlier
/// observations of the other nodes are then no evidence.
const JUMP: Duration = Duration::from_millis(250);

/// How soon after a jump the other nodes are expected to report their time.
const SETTLED: Duration = Duration::from_secs(1);

/// One value for each node. There are at most nine.
pub(super) type PerNode<T> = SmallVec<[T; 9]>;

/// Whether a node's clock is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    Right,
    /// The clock is off by this much, which is too far for the node's votes to count.
    Off(Duration),
    /// Too few nodes have reported their time since a clock jumped. Votes do not count yet.
    Unknown,
}

/// The clocks of the nodes, as this client sees them. A node's time is in µs since 1970, ours in µs since the zero of
/// our clock.
#[derive(Debug)]
pub(super) struct Clocks {
    nodes: Box<[Option<NodeClock>]>,
    /// The number of jumps, and the time of the last one.
    jumps: u64,
    jumped_at: Option<Moment>,
}

#[derive(Clone, Copy, Debug)]
struct NodeClock {
    /// How far the node's clock is ahead of ours (µs).
    offset: f64,
    /// How long its answers take.
    round_trip: Duration,
    /// When the answer with these values arrived.
    at: Moment,
    /// How long that answer took. The offset may be wrong by half of it.
    took: Duration,
    /// The number of jumps before that answer.
    jump: u64,
}

impl Clocks {
    pub(super) fn new(nodes: usize) -> Clocks {
        Clocks {
            nodes: vec![None; nodes].into(),
            jumps: 0,
            jumped_at: None,
        }
    }

    /// Notes that a node answered at `now` to a command sent at `sent`, and reported its time.
    pub(super) fn note(&mut self, node: usize, sent: Moment, now: Moment, node_now: u64) {
        let round_trip = now.since(sent);
        let offset = node_now as f64 - micros(sent) - round_trip.as_secs_f64() * 5e5;
        let took = round_trip;
        let round_trip = match self.nodes[node] {
            Some(before) => {
                let is_usual = round_trip <= before.round_trip * USUAL + LEAST_LOOK;
                // A clock that was set is noticed even if the answer is late.
                let (least, most) = (
                    node_now as f64 - micros(now),
                    node_now as f64 - micros(sent),
                );
                let fits = (least..=most).contains(&before.offset);
                if !is_usual && fits && now.since(before.at) < LONGEST_WITHOUT {
                    if let Some(clock) = &mut self.nodes[node]
                        && round_trip <= FARTHEST
                    {
                        clock.jump = self.jumps;
                    }
                    return;
                }
                let moved = Duration::from_secs_f64((offset - before.offset).abs() / 1e6);
                // Counts as a jump even if it was our own clock that jumped: then the others follow.
                let doubt = (before.took + took) / 2;
                if before.jump == self.jumps && moved > JUMP + doubt {
                    self.jumps += 1;
                    self.jumped_at = Some(now);
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
            took,
            jump: self.jumps,
        });
    }

    /// Returns whether enough nodes have reported their time: stamps are then good, and it is known which clocks are
    /// off.
    pub(super) fn is_heard(&self) -> bool {
        self.heard().count() > self.nodes.len() / 2
    }

    /// Returns the stamp of a caller that begins to ask now: its place in the order of all waiters, and the base of its
    /// token. It is the time when the caller's request will arrive, on the node whose clock is farthest ahead without
    /// being off. Before any node has reported, it is this machine's time.
    pub(super) fn stamp(&self, now: Moment) -> u64 {
        let judged = self.nodes.iter().zip(self.judge_all(now));
        let clocks = judged.filter_map(|(clock, judgement)| match judgement {
            Judgement::Off(_) => None,
            Judgement::Right | Judgement::Unknown => clock.as_ref(),
        });
        let lead = clocks
            .filter(|clock| clock.jump == self.jumps)
            .map(|clock| clock.offset + clock.round_trip.as_secs_f64() * 5e5)
            .max_by(f64::total_cmp);
        let Some(lead) = lead else {
            // No lease is counted from this time.
            #[allow(clippy::disallowed_methods)]
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            return now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(0));
        };
        let room = self.round_trip().as_secs_f64() * 1e6 / 8.0;
        (micros(now) + lead + room).max(0.0) as u64
    }

    /// Judges whether a node's clock is so far off that its votes do not count. The reference is the median; if only
    /// two nodes have reported, it is the other one, since either may be wrong.
    ///
    /// Offsets from before a jump are never compared with later ones. Otherwise, if our own clock stood still, each
    /// node would seem to be off at its first report afterwards.
    pub(super) fn judge(&self, node: usize, now: Moment) -> Judgement {
        self.judge_by(&self.offsets(), node, now)
    }

    /// Judges all nodes, in order.
    pub(super) fn judge_all(&self, now: Moment) -> PerNode<Judgement> {
        let offsets = self.offsets();
        let nodes = 0..self.nodes.len();
        nodes
            .map(|node| self.judge_by(&offsets, node, now))
            .collect()
    }

    /// Judges by the known `offsets`, which are sorted.
    fn judge_by(&self, offsets: &[f64], node: usize, now: Moment) -> Judgement {
        let own = self.nodes[node].filter(|clock| clock.jump == self.jumps);
        let Some(own) = own.filter(|_| offsets.len() > self.nodes.len() / 2) else {
            return Judgement::Unknown;
        };
        let off = match *offsets {
            [first, second] => second - first,
            _ => (own.offset - offsets[offsets.len() / 2]).abs(),
        };
        // Compared as numbers, since each call judges several times: a `Duration` is only built to be shown.
        if off <= (FARTHEST + own.round_trip).as_secs_f64() * 1e6 {
            return Judgement::Right;
        }
        let settles =
            offsets.len() == 2 && self.jumped_at.is_some_and(|jumped| now < jumped + SETTLED);
        if settles {
            // A third node is about to report, and will decide which of the two is off.
            Judgement::Unknown
        } else {
            Judgement::Off(Duration::from_secs_f64(off / 1e6))
        }
    }

    /// Returns the offsets of the known clocks, sorted.
    fn offsets(&self) -> PerNode<f64> {
        let mut offsets: PerNode<f64> = self.heard().map(|clock| clock.offset).collect();
        offsets.sort_unstable_by(f64::total_cmp);
        offsets
    }

    /// Returns the two nodes whose clocks are farthest apart, if that needs a warning.
    pub(super) fn spread(&self) -> Option<Spread> {
        let clocks = self.nodes.iter().enumerate();
        let heard = clocks.filter_map(|(node, clock)| Some((node, clock.as_ref()?)));
        let heard = heard.filter(|(_, clock)| clock.jump == self.jumps);
        let reading = |(node, clock): (usize, &NodeClock)| Reading {
            node,
            offset: clock.offset,
            doubt: clock.took / 2,
        };
        Spread::of(heard.map(reading).collect())
    }

    /// Returns how long to wait for nodes.
    pub(super) fn patience(&self) -> Patience {
        Patience::of(self.round_trip())
    }

    /// Returns the median of the nodes' answer times.
    fn round_trip(&self) -> Duration {
        let clocks = self.nodes.iter().flatten();
        let mut round_trips: PerNode<Duration> = clocks.map(|clock| clock.round_trip).collect();
        round_trips.sort_unstable();
        let middle = round_trips.get(round_trips.len() / 2);
        middle.copied().unwrap_or_default()
    }

    /// Iterates over the clocks that were reported since the last jump.
    fn heard(&self) -> impl Iterator<Item = &NodeClock> {
        let clocks = self.nodes.iter().flatten();
        clocks.filter(|clock| clock.jump == self.jumps)
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

    /// Notes the answer of a node whose clock is ahead of ours by `UNIX` and `ahead`, and which answers in 1 ms.
    fn hear(clocks: &mut Clocks, node: usize, sent: u64, ahead: i64) {
        let node_now = (UNIX + sent + 500).checked_add_signed(ahead).unwrap();
        clocks.note(node, at(sent), at(sent + 1_000), node_now);
    }

    /// Returns the time on a node without an offset when a command sent at `now` arrives, plus an eighth of a round
    /// trip.
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
        // The node was stopped for 3 s, and reports its time when it continues.
        clocks.note(0, at(10_000), at(3_010_000), UNIX + 3_009_900);
        assert_eq!(clocks.judge(0, at(3_010_000)), Judgement::Right);
        let stamp = clocks.stamp(at(3_010_000));
        assert!(stamp.abs_diff(arrival(3_010_000)) <= 1, "{stamp}");
        // Another node's clock was set while its answer was late.
        clocks.note(1, at(10_000), at(3_010_000), UNIX + 63_009_900);
        let now = 3_020_000;
        assert_eq!(clocks.judge(1, at(now)), Judgement::Unknown);
        hear(&mut clocks, 0, now, 0);
        hear(&mut clocks, 2, now, 0);
        let off = |node| matches!(clocks.judge(node, at(now)), Judgement::Off(_));
        assert_eq!([0, 1, 2].map(off), [false, true, false]);
        // The network path has become longer.
        clocks.note(0, at(9_000_000), at(9_080_000), UNIX + 9_040_000);
        assert!(clocks.nodes[0].unwrap().round_trip > Duration::from_millis(10));
    }

    #[test]
    fn clock_far_from_the_median_is_off() {
        let mut clocks = Clocks::new(3);
        let judge = |clocks: &Clocks, node| clocks.judge(node, at(1_000));
        hear(&mut clocks, 0, 0, 0);
        let unknown = judge(&clocks, 0);
        assert_eq!(
            unknown,
            Judgement::Unknown,
            "nothing is known of the others"
        );
        hear(&mut clocks, 1, 0, 60_000_000);
        let is_off = |node| matches!(judge(&clocks, node), Judgement::Off(_));
        assert_eq!([0, 1].map(is_off), [true; 2], "either may be wrong");
        hear(&mut clocks, 2, 0, 100_000);
        assert!([0, 2].map(|node| judge(&clocks, node)) == [Judgement::Right; 2]);
        let Judgement::Off(off) = judge(&clocks, 1) else {
            panic!("the clock is off by a minute");
        };
        assert_eq!(off.as_secs(), 59);
    }

    /// After the pause, all nodes seem to be ahead of their last reports.
    #[test]
    fn own_clock_that_stood_still_has_no_node_off() {
        let mut clocks = Clocks::new(3);
        (0..3).for_each(|node| hear(&mut clocks, node, 0, 0));
        let (now, ahead) = (10_000, 2_000_000);
        hear(&mut clocks, 0, now, ahead);
        assert!(!clocks.is_heard());
        assert_eq!(clocks.judge(0, at(now)), Judgement::Unknown);
        assert_eq!(clocks.judge(1, at(now)), Judgement::Unknown, "of before");
        // The third node is away.
        hear(&mut clocks, 1, now, ahead);
        assert!([0, 1].map(|node| clocks.judge(node, at(now))) == [Judgement::Right; 2]);
        let stamp = clocks.stamp(at(now));
        assert!(
            stamp.abs_diff(arrival(now) + ahead.unsigned_abs()) <= 1,
            "{stamp}"
        );
    }

    #[test]
    fn clock_of_a_node_that_was_set_is_off_once_the_others_answer() {
        let mut clocks = Clocks::new(3);
        (0..3).for_each(|node| hear(&mut clocks, node, 0, 0));
        hear(&mut clocks, 0, 10_000, 60_000_000);
        assert_eq!(clocks.judge(0, at(11_000)), Judgement::Unknown);
        hear(&mut clocks, 1, 10_000, 0);
        let judge = |clocks: &Clocks, node, now| clocks.judge(node, at(now));
        assert_eq!(judge(&clocks, 0, 12_000), Judgement::Unknown);
        let is_off = matches!(judge(&clocks, 0, 2_000_000), Judgement::Off(_));
        assert!(is_off, "the third node is away, and either may be wrong");
        hear(&mut clocks, 2, 10_000, 0);
        assert!(matches!(judge(&clocks, 0, 12_000), Judgement::Off(_)));
        assert_eq!(judge(&clocks, 1, 12_000), Judgement::Right);
    }

    /// On a busy machine, one direction may take all of the time.
    #[test]
    fn slow_answers_are_not_a_jump() {
        let mut clocks = Clocks::new(3);
        (0..3).for_each(|node| clocks.note(node, at(0), at(1_000_000), UNIX + 999_000));
        hear(&mut clocks, 0, 2_000_000, 0);
        assert_eq!(clocks.jumps, 0);
        assert_eq!(clocks.judge(1, at(2_001_000)), Judgement::Right);
        hear(&mut clocks, 0, 3_000_000, 300_000);
        assert_eq!(clocks.jumps, 1);
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
