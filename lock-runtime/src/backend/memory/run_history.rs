//! The run histories of a memory client, which keeps what a server would keep.

use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use crate::backend::memory::Memory;
use crate::backend::memory::memory_inspection::wall_clock;
use crate::backend::memory::store::store_request::LockOwner;
use crate::backend::wire::run_entry::{KEPT_FOR, LineContent, RunLine, runs};
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::background::sync::Mutex;
use crate::key::LockKey;
use crate::lease::Lease;
use crate::lease::owner_id::OwnerId;
use crate::lease::run_record::{Finish, RunRecord};
use crate::state::Run;

/// How often histories that are no longer kept are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// The run histories of all locks.
#[derive(Debug, Default)]
pub(crate) struct RunHistories(Mutex<Histories>);

#[derive(Debug, Default)]
struct Histories {
    by_key: HashMap<LockKey, History>,
    /// When the histories were last swept.
    swept: Option<Moment>,
}

#[derive(Debug)]
struct History {
    lines: VecDeque<RunLine>,
    /// The time of the last line.
    last: Moment,
}

impl Histories {
    fn add(&mut self, key: &LockKey, kept: u16, line: RunLine, now: Moment) {
        if self.swept.is_none_or(|at| now.since(at) >= SWEEP_INTERVAL) {
            self.swept = Some(now);
            self.by_key.retain(|_, history| history.is_kept(now));
        }
        let new = || History {
            lines: VecDeque::new(),
            last: now,
        };
        let history = self.by_key.entry(key.clone()).or_insert_with(new);
        if !history.is_kept(now) {
            history.lines.clear();
        }
        history.last = now;
        history.lines.push_back(line);
        while history.lines.len() > 2 * usize::from(kept) {
            history.lines.pop_front();
        }
    }

    fn lines(&self, key: &LockKey, now: Moment) -> Vec<RunLine> {
        let history = self.by_key.get(key).filter(|history| history.is_kept(now));
        history.map_or_else(Vec::new, |history| history.lines.iter().cloned().collect())
    }
}

impl History {
    fn is_kept(&self, now: Moment) -> bool {
        now.since(self.last) < KEPT_FOR
    }
}

impl Memory {
    /// Records that the holder of a lease has begun.
    pub(crate) fn begin_run(&self, lease: &Lease, run: &RunRecord) {
        self.add_line(lease, run, LineContent::Began);
    }

    /// Records how the holder of a lease has ended.
    pub(crate) fn end_run(&self, lease: &Lease, run: &RunRecord, finish: Finish) {
        let (word, took) = (finish.end.as_str().to_owned(), finish.took);
        self.add_line(lease, run, LineContent::Ended { word, took });
    }

    fn add_line(&self, lease: &Lease, run: &RunRecord, content: LineContent) {
        let now = lease.now();
        let add = |key: &LockKey, owner_id: OwnerId| {
            let line = RunLine {
                at: time_of(now),
                owner_id,
                number: run.number.to_string(),
                label: lease.label.to_string(),
                kept: run.kept.into(),
                content: content.clone(),
            };
            self.histories.0.lock().add(key, run.kept, line, now);
        };
        // Each of several locks has an owner of its own here.
        match self.several.of(lease) {
            Some(owners) => owners.iter().for_each(|owner| add(&owner.key, owner.id)),
            None => add(lease.keys.first(), lease.owner_id),
        }
    }

    /// Returns the runs of a lock, the last one first.
    pub(crate) fn runs(&self, key: &LockKey) -> Vec<Run> {
        let now = Clock::Tokio.now();
        let lines = self.histories.0.lock().lines(key, now);
        runs(lines, |&id| {
            let key = key.as_str();
            self.store
                .decide(|store| store.is_held_by(LockOwner { key, id }, now))
        })
    }
}

/// Returns the wall clock's time at a moment. Paused time counts, so that runs are as long as a test makes them; whole
/// milliseconds, as on a server.
fn time_of(moment: Moment) -> SystemTime {
    static ZERO: LazyLock<(SystemTime, Moment)> =
        LazyLock::new(|| (wall_clock(), Clock::Real.now()));
    let (wall, zero) = *ZERO;
    let millis = |moment: Moment| Duration::from_millis(moment.as_nanos() / 1_000_000);
    let wall = wall - Duration::from_nanos(u64::from(nanos_of_the_millisecond(wall)));
    wall + millis(moment) - millis(zero)
}

fn nanos_of_the_millisecond(time: SystemTime) -> u32 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.subsec_nanos() % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u32) -> RunLine {
        RunLine {
            at: SystemTime::UNIX_EPOCH,
            owner_id: OwnerId::parse_prefix(&[b'0'; OwnerId::LEN]).unwrap(),
            number: number.to_string(),
            label: String::new(),
            kept: 2,
            content: LineContent::Began,
        }
    }

    fn at(time: Duration) -> Moment {
        Moment::from_nanos(0) + time
    }

    #[test]
    fn two_lines_are_kept_for_each_run() {
        let (mut histories, key) = (Histories::default(), LockKey::from("a"));
        for number in 0..9 {
            histories.add(&key, 2, line(number), at(Duration::ZERO));
        }
        let lines = histories.lines(&key, at(Duration::ZERO));
        let numbers: Vec<_> = lines.iter().map(|line| line.number.as_str()).collect();
        assert_eq!(numbers, ["5", "6", "7", "8"]);
    }

    #[test]
    fn history_is_kept_for_thirty_days_after_its_last_line() {
        let (mut histories, key) = (Histories::default(), LockKey::from("a"));
        histories.add(&key, 2, line(1), at(Duration::ZERO));
        let almost = KEPT_FOR - Duration::from_millis(1);
        assert_eq!(histories.lines(&key, at(almost)).len(), 1);
        assert!(histories.lines(&key, at(KEPT_FOR)).is_empty());
        // The next line of any lock removes it.
        histories.add(&LockKey::from("b"), 2, line(2), at(KEPT_FOR));
        assert!(!histories.by_key.contains_key(&key));
    }
}
