//! The run of a call: what it records of itself, for callers that ask for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::background::moment::Moment;
use crate::background::sync::Mutex;
use crate::key::{OneOrMore, RecordNames};
use crate::lease::owner_id::OwnerId;

/// How a run ended, as its process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// The body returned, or the guard was released.
    Done,
    /// The body returned an error of its own, or the guard was marked as failed.
    Failed,
    /// The lock was not held until the end.
    Lost,
    /// The call or the guard was dropped.
    Cancelled,
    Panicked,
}

impl RunEnd {
    /// Returns the word in the record, and in metrics.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            RunEnd::Done => "done",
            RunEnd::Failed => "failed",
            RunEnd::Lost => "lost",
            RunEnd::Cancelled => "cancelled",
            RunEnd::Panicked => "panicked",
        }
    }
}

/// The end of a run, and how long it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Finish {
    pub(crate) end: RunEnd,
    pub(crate) took: Duration,
}

/// Identifies a run: the owner that held its lock, and a number, since an owner may serve several calls in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunId {
    pub(crate) owner_id: OwnerId,
    pub(crate) number: u64,
}

/// What a call records of its run. The lease of the call has it, and so has the lease of a writer that became a reader.
#[derive(Debug)]
pub(crate) struct RunRecord {
    /// The locks in whose records the run is.
    pub(crate) names: OneOrMore<RecordNames>,
    /// How many runs are kept.
    pub(crate) kept: u16,
    pub(crate) number: u64,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// The caller does not have the lock yet.
    Waiting,
    Running {
        since: Moment,
        body: Body,
    },
    /// The end is recorded, and not yet reported.
    Ended(Finish),
    Over,
}

/// What is known about the work under the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Unfinished,
    Done,
    Failed,
    /// One of its locks was lost.
    Lost,
}

/// What becomes of the call at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldEnd {
    /// It releases its lock, which is still held as far as is known.
    Released,
    /// Its lock is lost.
    Lost,
    /// It is dropped, and its lock with it.
    Dropped,
    /// It is dropped by a panic.
    Panicked,
}

impl RunRecord {
    pub(crate) fn new(names: OneOrMore<RecordNames>, kept: u16) -> Arc<RunRecord> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(RunRecord {
            names,
            kept,
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            state: Mutex::new(State::Waiting),
        })
    }

    /// Notes that the caller has the lock. Returns `false` if it was noted before.
    pub(crate) fn begin(&self, now: Moment) -> bool {
        let mut state = self.state.lock();
        let begins = matches!(*state, State::Waiting);
        if begins {
            *state = State::Running {
                since: now,
                body: Body::Unfinished,
            };
        }
        begins
    }

    /// Notes that the work is done, unless it was marked as failed.
    pub(crate) fn body_done(&self) {
        self.note(|body| {
            if *body == Body::Unfinished {
                *body = Body::Done;
            }
        });
    }

    /// Notes that the work has failed.
    pub(crate) fn body_failed(&self) {
        self.note(|body| *body = Body::Failed);
    }

    /// Notes that a lock was lost before the work was over: this one, or one that the call tree held before. Its own
    /// failure explains more.
    pub(crate) fn lock_lost(&self) {
        self.note(|body| {
            if *body != Body::Failed {
                *body = Body::Lost;
            }
        });
    }

    fn note(&self, change: impl FnOnce(&mut Body)) {
        if let State::Running { body, .. } = &mut *self.state.lock() {
            change(body);
        }
    }

    /// Ends the run at `now`. Returns its end if it is to be recorded: once, and only after a beginning.
    pub(crate) fn end(&self, hold: HoldEnd, now: Moment) -> Option<Finish> {
        let mut state = self.state.lock();
        let State::Running { since, body } = *state else {
            return None;
        };
        let finish = Finish {
            end: end_of(body, hold),
            took: now.since(since),
        };
        *state = State::Ended(finish);
        Some(finish)
    }

    /// Notes that the lock turned out to be lost, although the run was recorded as done. Returns the end to record
    /// instead.
    pub(crate) fn correct(&self) -> Option<Finish> {
        match &mut *self.state.lock() {
            State::Ended(finish) if finish.end == RunEnd::Done => {
                finish.end = RunEnd::Lost;
                Some(*finish)
            }
            _ => None,
        }
    }

    /// Returns the end of the run, once.
    pub(crate) fn report(&self) -> Option<Finish> {
        let mut state = self.state.lock();
        let State::Ended(finish) = *state else {
            return None;
        };
        *state = State::Over;
        Some(finish)
    }
}

/// The body's own error and a panic explain more than the loss that may have come with them.
fn end_of(body: Body, hold: HoldEnd) -> RunEnd {
    match (body, hold) {
        (Body::Failed, _) => RunEnd::Failed,
        (_, HoldEnd::Panicked) if body == Body::Unfinished => RunEnd::Panicked,
        (Body::Lost, _) | (_, HoldEnd::Lost) => RunEnd::Lost,
        (Body::Done, _) | (_, HoldEnd::Released) => RunEnd::Done,
        (Body::Unfinished, _) => RunEnd::Cancelled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::LockKey;

    const BEGAN: Moment = Moment::from_nanos(1_000);
    const ENDED: Moment = Moment::from_nanos(4_000);

    fn record() -> Arc<RunRecord> {
        let names = RecordNames::new("lock:", &LockKey::from("a")).unwrap();
        RunRecord::new(names.into(), 3)
    }

    fn running() -> Arc<RunRecord> {
        let run = record();
        assert!(run.begin(BEGAN));
        run
    }

    #[test]
    fn end_is_what_explains_most() {
        use HoldEnd::{Dropped, Lost, Panicked, Released};
        let ends = |note: fn(&RunRecord)| {
            [Released, Lost, Dropped, Panicked].map(|hold| {
                let run = running();
                note(&run);
                run.end(hold, ENDED).unwrap().end.as_str()
            })
        };
        assert_eq!(ends(|_| ()), ["done", "lost", "cancelled", "panicked"]);
        assert_eq!(
            ends(RunRecord::body_done),
            ["done", "lost", "done", "done"],
            "a carried future may keep the lock after the body"
        );
        assert_eq!(ends(RunRecord::body_failed), ["failed"; 4]);
        assert_eq!(ends(RunRecord::lock_lost), ["lost"; 4]);
        let failed_first = |run: &RunRecord| {
            run.body_failed();
            run.body_done();
        };
        assert_eq!(ends(failed_first), ["failed"; 4]);
        let done_and_lost = |run: &RunRecord| {
            run.body_done();
            run.lock_lost();
        };
        assert_eq!(ends(done_and_lost), ["lost"; 4]);
        let failed_and_lost = |run: &RunRecord| {
            run.body_failed();
            run.lock_lost();
        };
        assert_eq!(ends(failed_and_lost), ["failed"; 4]);
    }

    #[test]
    fn run_begins_and_ends_once() {
        let run = record();
        assert_eq!(run.end(HoldEnd::Dropped, ENDED), None, "it never began");
        assert!(run.begin(BEGAN));
        assert!(!run.begin(ENDED), "a reader that was a writer");
        let finish = Finish {
            end: RunEnd::Done,
            took: Duration::from_nanos(3_000),
        };
        assert_eq!(run.end(HoldEnd::Released, ENDED), Some(finish));
        assert_eq!(run.end(HoldEnd::Dropped, ENDED), None);
        assert_eq!(run.report(), Some(finish));
        assert_eq!(run.report(), None);
        assert_eq!(run.correct(), None);
    }

    #[test]
    fn only_a_run_that_was_done_is_corrected() {
        let run = running();
        run.end(HoldEnd::Released, ENDED);
        assert_eq!(run.correct().unwrap().end, RunEnd::Lost);
        assert_eq!(run.correct(), None);
        assert_eq!(run.report().unwrap().end, RunEnd::Lost);
        let run = running();
        run.body_failed();
        run.end(HoldEnd::Released, ENDED);
        assert_eq!(run.correct(), None, "its own error stays");
    }
}
