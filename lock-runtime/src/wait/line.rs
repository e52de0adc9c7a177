//! The callers of one client that want the same lock, first come first served.
//!
//! A lock has a line while one of this client's callers competes for it or holds it; that one is
//! at its head, and the rest wait behind it. When the head is done, it hands the turn to the next.

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
    /// Becomes the head of an empty line, and says so.
    pub(crate) fn head(&mut self, lock: &Arc<str>) -> bool {
        if self.lines.contains_key(lock) {
            return false;
        }
        self.lines.insert(lock.clone(), VecDeque::new());
        true
    }

    /// Waits behind a head, which must be there.
    pub(crate) fn join(&mut self, lock: &Arc<str>, seat: S) -> Place {
        debug_assert!(self.lines.contains_key(lock), "nobody would call this one");
        let place = Place(self.next);
        self.next += 1;
        self.lines
            .entry(lock.clone())
            .or_default()
            .push_back((place, seat));
        place
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

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> (Lines<u8>, Arc<str>) {
        (Lines::default(), "k".into())
    }

    #[test]
    fn only_the_first_is_the_head() {
        let (mut lines, k) = lines();
        assert!(lines.head(&k));
        assert!(!lines.head(&k));
        assert!(lines.head(&"other".into()));
    }

    #[test]
    fn turns_are_called_in_order_and_the_line_ends_with_the_last() {
        let (mut lines, k) = lines();
        lines.head(&k);
        lines.join(&k, 1);
        lines.join(&k, 2);
        assert_eq!(lines.peek(&k), Some(&1));
        assert_eq!(lines.call(&k), Some(1));
        assert_eq!(lines.call(&k), Some(2));
        assert!(!lines.head(&k), "the last one called is still at the head");
        assert_eq!(lines.call(&k), None);
        assert!(lines.head(&k));
    }

    #[test]
    fn whoever_leaves_is_not_called_and_knows_if_it_was_before() {
        let (mut lines, k) = lines();
        lines.head(&k);
        let first = lines.join(&k, 1);
        let second = lines.join(&k, 2);
        let third = lines.join(&k, 3);
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
        lines.head(&k);
        let place = lines.join(&k, 1);
        assert!(!lines.end_if_empty(&k));
        lines.leave(&k, place);
        assert!(lines.end_if_empty(&k));
        assert!(lines.head(&k));
    }
}
