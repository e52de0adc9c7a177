//! The callers of one client that want the same lock, first come first served.
//!
//! A lock has a line while one of this client's callers competes for it or holds it; that one is
//! at its head, and the rest wait behind it. When the head is done, it hands the turn to the next.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A place behind the head of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u64);

/// Every line of a client, by the name of the lock.
#[derive(Debug)]
pub(crate) struct Lines<S> {
    lines: HashMap<Arc<str>, VecDeque<(Place, S)>>,
    next: u64,
}

impl<S> Default for Lines<S> {
    fn default() -> Self {
        Lines {
            lines: HashMap::new(),
            next: 0,
        }
    }
}

impl<S> Lines<S> {
    /// Becomes the head of an empty line; else says where to wait behind its head.
    pub(crate) fn head(&mut self, lock: &Arc<str>) -> Option<Tail<'_, S>> {
        match self.lines.entry(lock.clone()) {
            Entry::Occupied(line) => Some(Tail {
                line: line.into_mut(),
                next: &mut self.next,
            }),
            Entry::Vacant(line) => {
                line.insert(VecDeque::new());
                None
            }
        }
    }

    /// Gives a place up. `None` if its turn was called before.
    pub(crate) fn leave(&mut self, lock: &str, place: Place) -> Option<S> {
        let line = self.lines.get_mut(lock)?;
        let index = line.binary_search_by_key(&place.0, |(place, _)| place.0);
        line.remove(index.ok()?).map(|(_, seat)| seat)
    }

    /// Who is next.
    pub(crate) fn peek(&self, lock: &str) -> Option<&S> {
        self.lines.get(lock)?.front().map(|(_, seat)| seat)
    }

    /// Makes the next one the head if `may` lets it, and answers with what that says.
    pub(crate) fn call_if<T>(
        &mut self,
        lock: &str,
        may: impl FnOnce(&S) -> Option<T>,
    ) -> Option<(S, T)> {
        let line = self.lines.get_mut(lock)?;
        let (_, seat) = line.front()?;
        let answer = may(seat)?;
        let (_, seat) = line.pop_front()?;
        Some((seat, answer))
    }

    /// Makes the next one the head. With nobody left the line is gone.
    pub(crate) fn call(&mut self, lock: &str) -> Option<S> {
        let seat = self.lines.get_mut(lock)?.pop_front();
        if seat.is_none() {
            self.lines.remove(lock);
        }
        seat.map(|(_, seat)| seat)
    }

    /// Ends a line that nobody waits in. `false` if somebody does.
    pub(crate) fn end_if_empty(&mut self, lock: &str) -> bool {
        let is_empty = self.peek(lock).is_none();
        if is_empty {
            self.lines.remove(lock);
        }
        is_empty
    }
}

/// The end of a line that has a head.
pub(crate) struct Tail<'a, S> {
    line: &'a mut VecDeque<(Place, S)>,
    next: &'a mut u64,
}

impl<S> Tail<'_, S> {
    /// Waits behind all who are there.
    pub(crate) fn join(self, seat: S) -> Place {
        let place = Place(*self.next);
        *self.next += 1;
        self.line.push_back((place, seat));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> (Lines<u8>, Arc<str>) {
        (Lines::default(), "k".into())
    }

    fn join(lines: &mut Lines<u8>, seat: u8) -> Place {
        lines.head(&"k".into()).expect("there is a head").join(seat)
    }

    #[test]
    fn only_the_first_is_the_head() {
        let (mut lines, k) = lines();
        assert!(lines.head(&k).is_none());
        assert!(lines.head(&k).is_some());
        assert!(lines.head(&"other".into()).is_none());
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
