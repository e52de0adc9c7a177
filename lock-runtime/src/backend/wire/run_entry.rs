//! The entries of a lock's run history: two for each run, its beginning and its end.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::background::moment::Moment;
use crate::key::{OneOrMore, RecordNames};
use crate::lease::owner_id::OwnerId;
use crate::lease::run_record::{Finish, RunId};
use crate::state::{Run, RunOutcome};

/// How long the history of a lock is kept after its last entry.
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The most entries that are read: two for each of the most runs that a call may keep.
pub(crate) const MOST_ENTRIES: usize = 2_000;

/// An entry to write.
#[derive(Clone, Debug)]
pub(crate) struct RunEntry {
    pub(crate) names: OneOrMore<RecordNames>,
    pub(crate) id: RunId,
    /// How many runs are kept.
    pub(crate) kept: u16,
    /// The holder's label.
    pub(crate) label: Arc<str>,
    pub(crate) event: RunEvent,
    /// When it happened.
    pub(crate) at: Moment,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RunEvent {
    Began,
    Ended(Finish),
}

/// An entry as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunLine {
    pub(crate) at: SystemTime,
    /// The owner of the lock.
    pub(crate) owner_id: OwnerId,
    /// Distinguishes the runs of one owner.
    pub(crate) number: String,
    pub(crate) label: String,
    /// How many runs are kept.
    pub(crate) kept: usize,
    pub(crate) content: LineContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineContent {
    Began,
    Ended { word: String, took: Duration },
}

/// Returns the runs of which these are the entries, the last one first. `holds` knows the owners that hold the lock.
///
/// An entry whose answer was lost may have been written twice, and may come after a later one. Where runs overlap, the
/// beginning of a run may be gone when its end is written, so the end alone describes it as well.
pub(crate) fn runs(lines: Vec<RunLine>, holds: impl Fn(&OwnerId) -> bool) -> Vec<Run> {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut known: HashMap<(OwnerId, String), usize> = HashMap::new();
    for line in lines {
        let index = *known
            .entry((line.owner_id, line.number))
            .or_insert_with(|| {
                drafts.push(Draft::of(line.owner_id));
                drafts.len() - 1
            });
        let draft = &mut drafts[index];
        (draft.label, draft.kept) = (line.label, line.kept);
        draft.add(line.at, line.content);
    }
    // Those of one millisecond stay in the order of their entries.
    drafts.reverse();
    drafts.sort_by_key(|draft| Reverse(draft.began()));
    let kept = drafts.first().map_or(0, |draft| draft.kept);
    drafts.truncate(kept);
    let mut seen: HashSet<OwnerId> = HashSet::new();
    let runs = drafts.into_iter().map(|draft| {
        // An owner serves one call at a time, the last one now.
        let holds = seen.insert(draft.owner_id) && holds(&draft.owner_id);
        draft.into_run(holds)
    });
    runs.collect()
}

/// A run, as far as the entries that were read describe it.
struct Draft {
    owner_id: OwnerId,
    label: String,
    kept: usize,
    began: Option<SystemTime>,
    ended: Option<SystemTime>,
    took: Duration,
    outcome: Option<RunOutcome>,
}

impl Draft {
    fn of(owner_id: OwnerId) -> Draft {
        Draft {
            owner_id,
            label: String::new(),
            kept: 0,
            began: None,
            ended: None,
            took: Duration::ZERO,
            outcome: None,
        }
    }

    fn add(&mut self, at: SystemTime, content: LineContent) {
        match content {
            LineContent::Began => {
                self.began = Some(self.began.map_or(at, |began| began.min(at)));
            }
            LineContent::Ended { word, took } => {
                self.ended = Some(self.ended.map_or(at, |ended| ended.min(at)));
                self.took = took;
                let outcome = RunOutcome::parse(word);
                // The release may have found that the lock was lost, and told so before or after.
                if self.outcome.is_none() || outcome != RunOutcome::Done {
                    self.outcome = Some(outcome);
                }
            }
        }
    }

    fn began(&self) -> Option<SystemTime> {
        let ended = self.ended.and_then(|ended| ended.checked_sub(self.took));
        self.began.or(ended)
    }

    fn into_run(self, holds: bool) -> Run {
        let began = self.began().unwrap_or(UNIX_EPOCH);
        let outcome = self.outcome.unwrap_or(if holds {
            RunOutcome::Running
        } else {
            RunOutcome::Died
        });
        Run {
            began,
            // The server's clock may have been set back.
            ended: self.ended.map(|ended| ended.max(began)),
            label: self.label,
            outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::owner_id::ClientId;

    fn owner(number: u8) -> OwnerId {
        OwnerId::from_random(ClientId::from_random([7; 6]), [number; 11])
    }

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(second)
    }

    fn line(second: u64, owner_id: OwnerId, number: u8, content: LineContent) -> RunLine {
        RunLine {
            at: at(second),
            owner_id,
            number: number.to_string(),
            label: format!("holder-{number}"),
            kept: 3,
            content,
        }
    }

    fn began(second: u64, owner: OwnerId, number: u8) -> RunLine {
        line(second, owner, number, LineContent::Began)
    }

    /// A run of two seconds.
    fn ended(second: u64, owner: OwnerId, number: u8, word: &str) -> RunLine {
        let (word, took) = (word.to_owned(), Duration::from_secs(2));
        line(second, owner, number, LineContent::Ended { word, took })
    }

    fn outcomes(lines: Vec<RunLine>, holder: Option<OwnerId>) -> Vec<(u64, String)> {
        let runs = runs(lines, |owner| Some(*owner) == holder);
        runs.iter()
            .map(|run| {
                let began = run.began.duration_since(UNIX_EPOCH).unwrap();
                (began.as_secs(), run.outcome.as_str().to_owned())
            })
            .collect()
    }

    fn expected(runs: &[(u64, &str)]) -> Vec<(u64, String)> {
        runs.iter()
            .map(|&(at, word)| (at, word.to_owned()))
            .collect()
    }

    #[test]
    fn last_run_comes_first_with_its_length() {
        let lines = vec![
            began(1, owner(1), 1),
            ended(4, owner(1), 1, "done"),
            began(6, owner(2), 2),
            ended(7, owner(2), 2, "failed"),
        ];
        let runs = runs(lines, |_| false);
        assert_eq!(runs[0].outcome, RunOutcome::Failed);
        assert_eq!((runs[1].began, runs[1].ended), (at(1), Some(at(4))));
        assert_eq!(runs[1].label, "holder-1");
        assert_eq!(runs[1].took(), Some(Duration::from_secs(3)));
    }

    #[test]
    fn runs_of_one_millisecond_are_in_their_order() {
        let lines = vec![
            began(1, owner(1), 1),
            ended(1, owner(1), 1, "done"),
            began(1, owner(2), 2),
            ended(1, owner(2), 2, "failed"),
        ];
        let all = expected(&[(1, "failed"), (1, "done")]);
        assert_eq!(outcomes(lines, None), all);
    }

    #[test]
    fn run_without_an_end_died_unless_its_owner_holds_the_lock() {
        let lines = vec![began(1, owner(1), 1)];
        let died = expected(&[(1, "died")]);
        assert_eq!(outcomes(lines.clone(), None), died);
        assert_eq!(outcomes(lines.clone(), Some(owner(2))), died);
        let running = expected(&[(1, "running")]);
        assert_eq!(outcomes(lines, Some(owner(1))), running);
    }

    /// The end of the first turn was not written.
    #[test]
    fn only_the_last_turn_of_an_owner_is_running() {
        let lines = vec![began(1, owner(1), 1), began(2, owner(1), 2)];
        assert_eq!(
            outcomes(lines, Some(owner(1))),
            expected(&[(2, "running"), (1, "died")])
        );
    }

    #[test]
    fn entries_may_be_repeated_and_late() {
        let lines = vec![
            ended(5, owner(1), 1, "done"),
            began(2, owner(1), 1),
            began(3, owner(1), 1),
            ended(6, owner(1), 1, "lost"),
        ];
        let runs = runs(lines, |_| true);
        assert_eq!(runs.len(), 1);
        assert_eq!((runs[0].began, runs[0].ended), (at(2), Some(at(5))));
        assert_eq!(runs[0].outcome, RunOutcome::Lost);
    }

    #[test]
    fn run_that_was_lost_is_not_done_after_all() {
        let lost = |words: [&str; 2]| {
            let mut lines = vec![began(2, owner(1), 1)];
            lines.extend(words.map(|word| ended(5, owner(1), 1, word)));
            outcomes(lines, None)
        };
        assert_eq!(lost(["done", "lost"]), expected(&[(2, "lost")]));
        // The first one was sent again.
        assert_eq!(lost(["lost", "done"]), expected(&[(2, "lost")]));
    }

    /// The beginnings of runs that overlap are cut before their ends come.
    #[test]
    fn end_alone_is_a_run() {
        let lines = (1..=4).map(|run| ended(7, owner(run), run, "done"));
        let runs = runs(lines.collect(), |_| false);
        assert_eq!(runs.len(), 3, "as many as are kept");
        assert_eq!((runs[0].began, runs[0].ended), (at(5), Some(at(7))));
        assert_eq!(runs[0].label, "holder-4");
    }

    #[test]
    fn as_many_runs_are_kept_as_the_last_one_asked_for() {
        let lines: Vec<_> = (1..=5)
            .map(|run| began(run.into(), owner(run), run))
            .collect();
        let died = expected(&[(5, "died"), (4, "died"), (3, "died")]);
        assert_eq!(outcomes(lines, None), died);
    }

    #[test]
    fn end_that_this_version_does_not_know_is_kept() {
        let lines = vec![began(1, owner(1), 1), ended(2, owner(1), 1, "paused")];
        assert_eq!(outcomes(lines, None), expected(&[(1, "paused")]));
    }

    #[test]
    fn no_run_ends_before_it_begins() {
        let lines = vec![began(5, owner(1), 1), ended(2, owner(1), 1, "done")];
        assert_eq!(runs(lines, |_| false)[0].took(), Some(Duration::ZERO));
    }
}
