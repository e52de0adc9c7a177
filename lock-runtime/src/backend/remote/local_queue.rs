//! The callers of one client that want the same lock, first come first served.
//!
//! A lock has a line while one of this client's callers competes for it or holds it; that one is
//! at its head, and the rest wait behind it. When the head is done, it hands the turn to the next.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use crate::key::{ByLock, LockName};

/// A place behind the head of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u64);

/// Every line of a client, by the name of the lock. `S` is what a caller leaves at its place, `N` what is
/// known at the head.
#[derive(Debug)]
pub(crate) struct Lines<S, N> {
    lines: ByLock<Line<S, N>>,
    next: u64,
}

#[derive(Debug)]
struct Line<S, N> {
    /// Made when it is needed: every lock that is held has a line, and hardly any has somebody in it.
    #[expect(
        clippy::box_collection,
        reason = "a place for it takes a quarter of the bytes"
    )]
    places: Option<Box<VecDeque<(Place, S)>>>,
    /// What the head knows of the lock. Those who leave behind it need not ask themselves.
    news: Option<N>,
    /// Somebody's time is up who waits for that alone.
    is_awaited: bool,
}

impl<S, N> Default for Lines<S, N> {
    fn default() -> Self {
        Lines {
            lines: ByLock::default(),
            next: 0,
        }
    }
}

impl<S, N: Clone> Lines<S, N> {
    /// Becomes the head of an empty line; else says where to wait behind its head.
    pub(crate) fn head(&mut self, lock: &LockName) -> Option<Tail<'_, S>> {
        match self.lines.entry(lock.clone()) {
            Entry::Occupied(line) => Some(Tail {
                places: &mut line.into_mut().places,
                next: &mut self.next,
            }),
            Entry::Vacant(line) => {
                line.insert(Line {
                    places: None,
                    news: None,
                    is_awaited: false,
                });
                None
            }
        }
    }

    /// Gives a place up. `None` if its turn was called before.
    pub(crate) fn leave(&mut self, lock: &LockName, place: Place) -> Option<S> {
        let places = self.lines.get_mut(lock)?.places.as_mut()?;
        let index = places.binary_search_by_key(&place.0, |(place, _)| place.0);
        places.remove(index.ok()?).map(|(_, seat)| seat)
    }

    /// What is known at the head.
    pub(crate) fn news(&self, lock: &LockName) -> Option<N> {
        self.lines.get(lock)?.news.clone()
    }

    /// Somebody in line has no more time, and stays to hear what will be known at the head.
    pub(crate) fn stay(&mut self, lock: &LockName) {
        if let Some(line) = self.lines.get_mut(lock) {
            line.is_awaited = true;
        }
    }

    /// Changes what is known at the head.
    pub(crate) fn update(&mut self, lock: &LockName, news: Option<N>) {
        if let Some(line) = self.lines.get_mut(lock) {
            line.news = news;
        }
    }

    /// Notes what is known at the head, and takes those out of the line who wait for nothing else.
    pub(crate) fn announce(
        &mut self,
        lock: &LockName,
        news: &N,
        mut has_time: impl FnMut(&S) -> bool,
    ) -> Vec<S> {
        let Some(line) = self.lines.get_mut(lock) else {
            return Vec::new();
        };
        line.news = Some(news.clone());
        if !std::mem::take(&mut line.is_awaited) {
            return Vec::new();
        }
        let Some(places) = &mut line.places else {
            return Vec::new();
        };
        let (stay, leave): (VecDeque<_>, VecDeque<_>) =
            places.drain(..).partition(|(_, seat)| has_time(seat));
        **places = stay;
        leave.into_iter().map(|(_, seat)| seat).collect()
    }

    /// Who is next.
    pub(crate) fn peek(&self, lock: &LockName) -> Option<&S> {
        let places = self.lines.get(lock)?.places.as_ref()?;
        places.front().map(|(_, seat)| seat)
    }

    /// Makes the next one the head if `may` lets it, and answers with what that says.
    pub(crate) fn call_if<T>(
        &mut self,
        lock: &LockName,
        may: impl FnOnce(&S) -> Option<T>,
    ) -> Option<(S, T)> {
        let places = self.lines.get_mut(lock)?.places.as_mut()?;
        let (_, seat) = places.front()?;
        let answer = may(seat)?;
        let (_, seat) = places.pop_front()?;
        Some((seat, answer))
    }

    /// Makes the next one the head. With nobody left the line is gone.
    pub(crate) fn call(&mut self, lock: &LockName) -> Option<S> {
        let places = self.lines.get_mut(lock)?.places.as_mut();
        let seat = places.and_then(|places| places.pop_front());
        if seat.is_none() {
            self.lines.remove(lock);
        }
        seat.map(|(_, seat)| seat)
    }

    /// Ends a line that nobody waits in. `false` if somebody does.
    pub(crate) fn end_if_empty(&mut self, lock: &LockName) -> bool {
        let is_empty = self.peek(lock).is_none();
        if is_empty {
            self.lines.remove(lock);
        }
        is_empty
    }
}

/// The end of a line that has a head.
pub(crate) struct Tail<'a, S> {
    #[expect(clippy::box_collection, reason = "as in a line")]
    places: &'a mut Option<Box<VecDeque<(Place, S)>>>,
    next: &'a mut u64,
}

impl<S> Tail<'_, S> {
    /// Waits behind all who are there.
    pub(crate) fn join(self, seat: S) -> Place {
        let place = Place(*self.next);
        *self.next += 1;
        let places = self.places.get_or_insert_default();
        places.push_back((place, seat));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::RecordNames;

    fn name(lock: &str) -> LockName {
        RecordNames::of_lock(lock.to_owned()).unwrap().lock
    }

    fn lines() -> (Lines<u8, &'static str>, LockName) {
        (Lines::default(), name("k"))
    }

    fn join(lines: &mut Lines<u8, &'static str>, seat: u8) -> Place {
        lines.head(&name("k")).expect("there is a head").join(seat)
    }

    #[test]
    fn only_the_first_is_the_head() {
        let (mut lines, k) = lines();
        assert!(lines.head(&k).is_none());
        assert!(lines.head(&k).is_some());
        assert!(lines.head(&name("other")).is_none());
    }

    #[test]
    fn turns_are_called_in_order_and_the_line_ends_with_the_last() {
        let (mut lines, k) = lines();
        assert!(lines.head(&k).is_none());
        join(&mut lines, 1);
        join(&mut lines, 2);
        assert_eq!(lines.peek(&k), Some(&1));
        assert_eq!(lines.call(&k), Some(1));
        assert_eq!(lines.call(&k), Some(2));
        let tail = lines.head(&k);
        assert!(tail.is_some(), "the last one called is still at the head");
        assert_eq!(lines.call(&k), None);
        assert!(lines.head(&k).is_none());
    }

    #[test]
    fn whoever_may_not_be_called_stays_in_line() {
        let (mut lines, k) = lines();
        assert_eq!(lines.call_if(&k, |_| Some(())), None, "there is no line");
        assert!(lines.head(&k).is_none());
        assert_eq!(lines.call_if(&k, |_| Some(())), None, "there is a head");
        join(&mut lines, 1);
        join(&mut lines, 2);
        assert_eq!(lines.call_if(&k, |_| None::<()>), None);
        assert_eq!(lines.call_if(&k, |&seat| Some(seat * 10)), Some((1, 10)));
        assert_eq!(lines.call(&k), Some(2));
        assert!(lines.head(&k).is_some());
    }

    #[test]
    fn whoever_leaves_is_not_called_and_knows_if_it_was_before() {
        let (mut lines, k) = lines();
        assert!(lines.head(&k).is_none());
        let [first, second, third] = [1, 2, 3].map(|seat| join(&mut lines, seat));
        assert_eq!(lines.leave(&k, second), Some(2));
        assert_eq!(lines.leave(&k, second), None);
        assert_eq!(lines.call(&k), Some(1));
        assert_eq!(lines.leave(&k, first), None);
        assert_eq!(lines.call(&k), Some(3));
        assert_eq!(lines.leave(&k, third), None);
    }

    #[test]
    fn what_the_head_knows_belongs_to_its_line() {
        let (mut lines, k) = lines();
        lines.update(&k, Some("there is no line"));
        assert!(lines.head(&k).is_none());
        assert_eq!(lines.news(&k), None);
        lines.update(&k, Some("held"));
        assert_eq!(lines.news(&k), Some("held"));
        assert_eq!(lines.call(&k), None);
        assert!(lines.head(&k).is_none());
        assert_eq!(lines.news(&k), None, "this is another line");
    }

    #[test]
    fn who_stays_for_news_is_dismissed_with_it_and_nobody_else() {
        let (mut lines, k) = lines();
        assert!(lines.head(&k).is_none());
        for seat in 1..=4 {
            join(&mut lines, seat);
        }
        let has_time = |seat: &u8| [2, 4].contains(seat);
        lines.stay(&k);
        assert_eq!(lines.announce(&k, &"held", has_time), [1, 3]);
        assert_eq!(lines.announce(&k, &"held", |_| false), [], "nobody stays");
        assert_eq!(lines.call(&k), Some(2));
        assert_eq!(lines.call(&k), Some(4));
    }

    #[test]
    fn a_line_ends_only_when_nobody_waits_in_it() {
        let (mut lines, k) = lines();
        assert!(lines.head(&k).is_none());
        let place = join(&mut lines, 1);
        assert!(!lines.end_if_empty(&k));
        lines.leave(&k, place);
        assert!(lines.end_if_empty(&k));
        assert!(lines.head(&k).is_none());
    }
}
