//! A lock that one or more watches of a client share.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::question_time::{LONGEST, is_current, next_question};
use super::watch_reader::WatchReader;
use crate::background::panics::catch_panics;
use crate::background::sync::Mutex;
use crate::error::LockError;
use crate::key::{LockKey, RecordNames};
use crate::state::LockState;

/// A lock that watches share.
#[derive(Debug)]
pub(crate) struct WatchedLock {
    pub(crate) key: LockKey,
    pub(crate) names: RecordNames,
    shared: Mutex<Shared>,
    /// Wakes the task that asks: the time of the next question has changed, or a reader has gone.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Shared {
    readers: Vec<Weak<WatchReader>>,
    last: Option<LockState>,
    /// When the last question was asked.
    asked: Option<Instant>,
    /// When the question was asked that `last` answers.
    answered: Option<Instant>,
    /// Whether the last question has no answer yet. It will tell everybody who joins meanwhile.
    is_asking: bool,
    has_message: bool,
    is_closed: bool,
}

impl WatchedLock {
    pub(super) fn new(key: &LockKey, names: &RecordNames) -> Arc<WatchedLock> {
        Arc::new(WatchedLock {
            key: key.clone(),
            names: names.clone(),
            shared: Mutex::default(),
            changed: Notify::new(),
        })
    }

    pub(super) fn first_reader(self: &Arc<Self>, every: Duration) -> Arc<WatchReader> {
        let reader = WatchReader::new(Some(self.clone()), every);
        self.shared.lock().readers.push(Arc::downgrade(&reader));
        reader
    }

    /// Adds a reader, which is told the last state if that is current, and else brings a question forward. `None` if the
    /// last reader has gone before.
    pub(super) fn join(
        self: &Arc<Self>,
        every: Duration,
        now: Instant,
    ) -> Option<Arc<WatchReader>> {
        let mut shared = self.shared.lock();
        if !shared.is_watched() {
            return None;
        }
        let reader = WatchReader::new(Some(self.clone()), every);
        let answered = shared.answered;
        match &shared.last {
            Some(last) if answered.is_some_and(|asked| is_current(asked, every, now)) => {
                reader.tell(last, true);
            }
            _ => shared.has_message |= !shared.is_asking,
        }
        shared.readers.push(Arc::downgrade(&reader));
        drop(shared);
        self.changed.notify_one();
        Some(reader)
    }

    /// Tells the readers the state of the lock, if its holders have changed. Returns the readers to wake.
    pub(crate) fn tell(&self, state: LockState) -> Vec<Arc<WatchReader>> {
        let mut shared = self.shared.lock();
        let is_same = |last: &LockState| last.has_same_holders(&state);
        let is_change = !shared.last.as_ref().is_some_and(is_same);
        let mut readers = shared.readers();
        readers.retain(|reader| reader.tell(&state, is_change));
        shared.last = Some(state);
        shared.answered = shared.asked;
        shared.is_asking = false;
        readers
    }

    /// Tells the readers that the lock could not be read.
    pub(crate) fn fail(&self, error: &LockError) {
        let mut shared = self.shared.lock();
        shared.is_asking = false;
        let readers = shared.readers();
        drop(shared);
        readers.iter().for_each(|reader| reader.fail(error));
        wake_readers(readers);
    }

    /// Notes that a question is asked now. Returns `false` if nobody wants the answer.
    pub(crate) fn begin_question(&self, now: Instant) -> bool {
        let mut shared = self.shared.lock();
        shared.asked = Some(now);
        shared.has_message = false;
        shared.is_asking = true;
        shared.is_watched()
    }

    /// Returns when to ask next; `None` if nobody watches any longer.
    pub(crate) fn next_question(&self) -> Option<Instant> {
        let mut shared = self.shared.lock();
        let asked = shared.asked.unwrap_or_else(Instant::now);
        if !shared.is_watched() {
            return None;
        }
        let every = shared.readers().iter().map(|reader| reader.every).min();
        let every = every.unwrap_or(LONGEST);
        Some(next_question(asked, every, shared.has_message))
    }

    /// Completes when the time of the next question may have changed.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Asks about the lock as soon as possible.
    pub(super) fn ask_now(&self) {
        self.shared.lock().has_message = true;
        self.changed.notify_one();
    }

    /// Notes that a reader has gone. Takes no mutex: the reader may have been dropped under it.
    pub(super) fn reader_left(&self) {
        self.changed.notify_one();
    }

    /// Returns whether anybody watches.
    pub(super) fn is_watched(&self) -> bool {
        self.shared.lock().is_watched()
    }

    pub(super) fn close(&self) {
        let mut shared = self.shared.lock();
        shared.is_closed = true;
        let readers = shared.readers();
        drop(shared);
        for reader in readers {
            catch_panics(|| reader.close());
        }
        self.changed.notify_one();
    }
}

impl Shared {
    fn is_watched(&mut self) -> bool {
        self.readers.retain(|reader| reader.strong_count() > 0);
        !self.is_closed && !self.readers.is_empty()
    }

    fn readers(&self) -> Vec<Arc<WatchReader>> {
        self.readers.iter().filter_map(Weak::upgrade).collect()
    }
}

/// Wakes readers, with no mutex held: wakers are foreign code.
pub(crate) fn wake_readers(readers: Vec<Arc<WatchReader>>) {
    for reader in readers {
        catch_panics(|| reader.wake());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::watching::Unseen;
    use crate::state::Waiter;

    const SECOND: Duration = Duration::from_secs(1);

    fn lock() -> Arc<WatchedLock> {
        let key = LockKey::from("leader");
        let names = RecordNames::new("lock:", &key).unwrap();
        WatchedLock::new(&key, &names)
    }

    /// A lock with this many holders.
    fn state(holders: usize) -> LockState {
        let mut state = LockState::free(LockKey::from("leader"));
        state.more_holders = holders;
        state
    }

    /// The numbers of holders that a reader has not read yet; `None` for a failure.
    fn unread(reader: &WatchReader) -> Vec<Option<usize>> {
        let next = || match reader.take() {
            Unseen::State(state) => Some(state.ok().map(|state| state.holder_count())),
            Unseen::Nothing | Unseen::Closed => None,
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn reader_is_told_the_first_state_and_each_change() {
        let lock = lock();
        let reader = lock.first_reader(SECOND);
        for holders in [0, 0, 1, 1, 2, 0] {
            lock.tell(state(holders));
        }
        let all = [0, 1, 2, 0].map(Some);
        assert_eq!(unread(&reader), all);
    }

    #[test]
    fn waiters_are_no_change() {
        let lock = lock();
        let reader = lock.first_reader(SECOND);
        lock.tell(state(1));
        let mut awaited = state(1);
        awaited.waiters.push(Waiter {
            label: "api-7".to_owned(),
            waiting: SECOND,
            last_seen: SECOND,
        });
        assert!(lock.tell(awaited).is_empty());
        assert_eq!(unread(&reader), [Some(1)]);
    }

    #[test]
    fn later_reader_is_told_the_last_state_if_it_is_current() {
        let lock = lock();
        let first = lock.first_reader(10 * SECOND);
        let asked = Instant::now();
        lock.begin_question(asked);
        lock.tell(state(1));
        let soon = lock.join(10 * SECOND, asked + SECOND / 2).unwrap();
        assert_eq!(unread(&soon), [Some(1)]);
        assert_eq!(lock.next_question(), Some(asked + 10 * SECOND));
        let late = lock.join(10 * SECOND, asked + SECOND).unwrap();
        assert_eq!(unread(&late), []);
        assert!(lock.next_question() < Some(asked + SECOND), "for its sake");
        lock.tell(state(1));
        assert_eq!(unread(&late), [Some(1)], "its first state");
        assert_eq!(unread(&soon), []);
        assert_eq!(unread(&first), [Some(1)]);
    }

    /// Otherwise a reader that comes during an outage would be told the state from before it.
    #[test]
    fn question_without_an_answer_makes_no_state_current() {
        let lock = lock();
        let _first = lock.first_reader(SECOND);
        let began = Instant::now();
        lock.begin_question(began);
        lock.tell(state(1));
        let later = began + 10 * SECOND;
        lock.begin_question(later);
        let meanwhile = lock.join(SECOND, later).unwrap();
        assert_eq!(unread(&meanwhile), []);
        assert_eq!(lock.next_question(), Some(later + SECOND), "one is asked");
        lock.fail(&LockError::invalid_options("on purpose"));
        assert_eq!(unread(&meanwhile), [None]);
        let after = lock.join(SECOND, later).unwrap();
        assert_eq!(unread(&after), []);
        assert!(lock.next_question() < Some(later + SECOND));
    }

    #[test]
    fn shortest_interval_counts_while_its_reader_is_there() {
        let lock = lock();
        let asked = Instant::now();
        let slow = lock.first_reader(10 * SECOND);
        lock.begin_question(asked);
        assert_eq!(lock.next_question(), Some(asked + 10 * SECOND));
        let quick = lock.join(SECOND, asked);
        assert_eq!(lock.next_question(), Some(asked + SECOND));
        drop(quick);
        assert_eq!(lock.next_question(), Some(asked + 10 * SECOND));
        drop(slow);
        assert_eq!(lock.next_question(), None);
        assert!(!lock.begin_question(asked));
        assert!(
            lock.join(SECOND, asked).is_none(),
            "it is no longer asked about"
        );
    }

    #[test]
    fn message_during_a_question_brings_the_next_one_forward() {
        let lock = lock();
        let _reader = lock.first_reader(10 * SECOND);
        let asked = Instant::now();
        lock.begin_question(asked);
        lock.ask_now();
        lock.tell(state(1));
        assert!(lock.next_question() < Some(asked + SECOND));
        lock.begin_question(asked + SECOND);
        assert_eq!(lock.next_question(), Some(asked + 11 * SECOND));
    }

    #[test]
    fn failures_in_a_row_are_told_once_and_so_is_the_state_after_them() {
        let lock = lock();
        let reader = lock.first_reader(SECOND);
        let failure = LockError::invalid_options("on purpose");
        for _ in 0..2 {
            lock.fail(&failure);
            lock.fail(&failure);
            lock.tell(state(0));
            lock.tell(state(0));
        }
        assert_eq!(unread(&reader), [None, Some(0), None, Some(0)]);
    }

    #[test]
    fn unread_changes_are_bounded_and_the_latest_stay() {
        let lock = lock();
        let reader = lock.first_reader(SECOND);
        for holders in 0..100 {
            lock.tell(state(holders));
        }
        let unread = unread(&reader);
        assert_eq!((unread.len(), unread.last()), (64, Some(&Some(99))));
    }

    #[test]
    fn failures_are_dropped_before_changes() {
        let lock = lock();
        let reader = lock.first_reader(SECOND);
        for holders in 0..64 {
            lock.tell(state(holders));
            lock.fail(&LockError::invalid_options("on purpose"));
        }
        let changes: Vec<_> = unread(&reader).into_iter().flatten().collect();
        assert_eq!(changes, (0..64).collect::<Vec<_>>());
    }

    #[test]
    fn closed_lock_tells_nothing_more() {
        let lock = lock();
        let reader = lock.first_reader(SECOND);
        lock.tell(state(1));
        lock.close();
        assert!(matches!(reader.take(), Unseen::Closed));
        assert_eq!(lock.next_question(), None);
    }
}
