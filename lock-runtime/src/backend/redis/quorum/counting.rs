//! Tracks the restart delay of nodes that may have lost data.
//!
//! No server's clock is known to run evenly, so clients measure the delay by their own clocks. Each client reports how
//! long the node has certainly waited, and the node's marker keeps the maximum. So the count continues when one client
//! ends and another takes over.

use std::mem;
use std::time::Duration;

use super::quorum_scripts::Marked;
use crate::backend::wire::error::WireError;
use crate::background::moment::Moment;
use crate::background::random;

/// A client's knowledge about one node's count.
#[derive(Debug, Default)]
pub(super) struct Counting {
    count: Option<Count>,
    /// Whether the background is counting.
    is_running: bool,
}

#[derive(Clone, Debug)]
struct Count {
    name: String,
    /// At the time `at`, the node had waited for this long.
    waited: Duration,
    at: Moment,
}

impl Counting {
    /// Returns the name of the known count, and the time that it has certainly run.
    pub(super) fn claim(&self, now: Moment) -> Option<(&str, Duration)> {
        let count = self.count.as_ref()?;
        Some((&count.name, count.waited_by(now)))
    }

    /// Returns whether the background must count from now on.
    pub(super) fn starts(&mut self) -> bool {
        !mem::replace(&mut self.is_running, true)
    }

    /// Notes that the background no longer counts.
    pub(super) fn stops(&mut self) {
        self.is_running = false;
    }

    /// Notes the node's answer, which was read at `now`.
    pub(super) fn note(&mut self, marked: &Marked, now: Moment) {
        let Some((name, waited)) = &marked.count else {
            self.count = None;
            return;
        };
        // A count that this client has measured itself does not start again: otherwise the imprecision of each reading
        // would add up.
        let is_ahead = |own: &Count| own.name == *name && own.waited_by(now) >= *waited;
        if !self.count.as_ref().is_some_and(is_ahead) {
            self.count = Some(Count {
                name: name.clone(),
                waited: *waited,
                at: now,
            });
        }
    }
}

impl Count {
    fn waited_by(&self, now: Moment) -> Duration {
        self.waited + now.since(self.at)
    }
}

/// Creates a unique name for a new count, since measurements of another count prove nothing about it.
pub(super) fn new_name() -> Result<String, WireError> {
    let bytes: [u8; 8] =
        random::bytes().map_err(|error| WireError::unavailable(error.to_string()))?;
    Ok(format!("{:016x}", u64::from_ne_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Moment {
        Moment::from_nanos(ms * 1_000_000)
    }

    fn counts(name: &str, waited: u64) -> Marked {
        let count = Some((name.to_owned(), Duration::from_millis(waited)));
        Marked {
            left: Duration::from_secs(60),
            now: 1,
            count,
        }
    }

    fn claim(counting: &Counting, ms: u64) -> Option<(String, u128)> {
        let claim = counting.claim(at(ms));
        claim.map(|(name, waited)| (name.to_owned(), waited.as_millis()))
    }

    fn known(name: &str, waited: u128) -> Option<(String, u128)> {
        Some((name.to_owned(), waited))
    }

    #[test]
    fn count_goes_on_by_the_clients_clock_from_the_nodes_answer() {
        let mut counting = Counting::default();
        assert_eq!(claim(&counting, 5), None);
        counting.note(&counts("a", 300), at(1_000));
        assert_eq!(claim(&counting, 1_000), known("a", 300));
        assert_eq!(claim(&counting, 1_700), known("a", 1_000));
        // The node reports less than this client has measured.
        counting.note(&counts("a", 900), at(2_000));
        assert_eq!(claim(&counting, 2_000), known("a", 1_300));
        // Another client has measured more.
        counting.note(&counts("a", 5_000), at(3_000));
        assert_eq!(claim(&counting, 3_100), known("a", 5_100));
    }

    #[test]
    fn count_of_another_name_begins_at_the_nodes_answer() {
        let mut counting = Counting::default();
        counting.note(&counts("a", 50_000), at(1_000));
        counting.note(&counts("b", 0), at(2_000));
        assert_eq!(claim(&counting, 2_500), known("b", 500));
        let votes = Marked {
            left: Duration::ZERO,
            now: 1,
            count: None,
        };
        counting.note(&votes, at(3_000));
        assert_eq!(claim(&counting, 4_000), None);
    }

    #[test]
    fn names_of_counts_differ() {
        assert_ne!(new_name().unwrap(), new_name().unwrap());
    }
}
