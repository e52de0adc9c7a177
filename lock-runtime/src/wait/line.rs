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

    /// Waits behind a head.
    pub(crate) fn join(&mut self, lock: &Arc<str>, seat: S) -> Place {
        let place = Place(self.next);
        self.next += 1;
        self.lines
            .entry(lock.clone())
            .or_default()
            .push_back((place, seat));
        place
    }

    /// Gives a place up. `false` if its turn was called before.
    pub(crate) fn leave(&mut self, lock: &str, place: Place) -> bool {
        let Some(line) = self.lines.get_mut(lock) else {
            return false;
        };
        let Ok(index) = line.binary_search_by_key(&place.0, |(place, _)| place.0) else {
            return false;
        };
        line.remove(index).is_some()
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
        assert!(lines.leave(&k, second));
        assert!(!lines.leave(&k, second));
        assert_eq!(lines.call(&k), Some(1));
        assert!(!lines.leave(&k, first));
        assert_eq!(lines.call(&k), Some(3));
        assert!(!lines.leave(&k, third));
    }
}
