//! Keeps owners whose ends were never answered, until the server is back.
//!
//! An owner is ended again and again until none of its commands can arrive. That time is counted from the last command,
//! and a server that is frozen, or cut off behind a proxy that is not, does not count: when it goes on, it finds the
//! commands in its socket, and takes a lock for a caller that is long gone. So an owner that was not ended by then is
//! kept, and ended on the next connection.

use std::collections::VecDeque;

use crate::background::sync::Mutex;

/// The most owners that are kept. The oldest are given up first; what they take ends with its ttl.
const MOST: usize = 1_024;

/// Owners that wait for their server, with what their ends need.
#[derive(Debug)]
pub(crate) struct Unended<T>(Mutex<VecDeque<T>>);

impl<T> Unended<T> {
    /// Keeps an owner. Returns whether it is the only one.
    pub(crate) fn keep(&self, owner: T) -> bool {
        let mut owners = self.0.lock();
        let given_up = (owners.len() == MOST).then(|| owners.pop_front());
        owners.push_back(owner);
        let is_only = owners.len() == 1;
        drop(owners);
        // Without the mutex, since an owner may have a destructor of its own.
        drop(given_up);
        is_only
    }

    /// Returns the owner that has waited longest.
    pub(crate) fn take_first(&self) -> Option<T> {
        self.0.lock().pop_front()
    }

    /// Returns all owners.
    pub(crate) fn take(&self) -> VecDeque<T> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl<T> Default for Unended<T> {
    fn default() -> Unended<T> {
        Unended(Mutex::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_are_bounded_and_the_oldest_is_given_up() {
        let unended = Unended::default();
        assert!(unended.keep(0) && !unended.keep(1));
        assert_eq!(unended.take_first(), Some(0));
        for owner in 2..=MOST + 1 {
            assert!(!unended.keep(owner));
        }
        let kept = unended.take();
        assert_eq!((kept.len(), kept[0]), (MOST, 2));
        assert_eq!(unended.take_first(), None);
    }
}
