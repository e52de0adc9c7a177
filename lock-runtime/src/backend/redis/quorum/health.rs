//! What an operator is told of the nodes: each change once.

use std::time::Duration;

use crate::background::sync::Mutex;
use crate::telemetry;

/// The health of a node, as the last command to it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    Up,
    Away,
    /// Its clock is too far off those of the others for its votes to count.
    ClockOff,
}

/// The health of one node.
#[derive(Debug)]
pub(super) struct NodeHealth {
    pub(super) name: String,
    last: Mutex<Health>,
}

impl NodeHealth {
    pub(super) fn new(name: String) -> NodeHealth {
        NodeHealth {
            name,
            last: Mutex::new(Health::Up),
        }
    }

    /// The node answered.
    pub(super) fn answered(&self) {
        if self.change(Health::Up) == Some(Health::Away) {
            telemetry::node_back(&self.name);
        }
    }

    /// The node answered, and whether its clock is right is not known.
    pub(super) fn is_back(&self) {
        let was_away = *self.last.lock() == Health::Away;
        if was_away {
            self.answered();
        }
    }

    /// A command to the node failed.
    pub(super) fn failed(&self, fault: &str) {
        if self.change(Health::Away).is_some() {
            telemetry::node_away(&self.name, fault);
        }
    }

    /// The node answered, and its clock is off.
    pub(super) fn clock_is_off(&self, by: Duration) {
        if self.change(Health::ClockOff).is_some() {
            telemetry::node_clock(&self.name, by);
        }
    }

    /// The health before, if it is another one now. The event follows when the mutex is free, since a subscriber may block.
    fn change(&self, to: Health) -> Option<Health> {
        let mut last = self.last.lock();
        let before = std::mem::replace(&mut *last, to);
        (before != to).then_some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_seen_once() {
        let health = NodeHealth::new("a:6379".to_owned());
        assert_eq!(health.change(Health::Up), None, "a node is up at first");
        assert_eq!(health.change(Health::Away), Some(Health::Up));
        assert_eq!(health.change(Health::Away), None);
        assert_eq!(health.change(Health::ClockOff), Some(Health::Away));
        assert_eq!(health.change(Health::Up), Some(Health::ClockOff));
    }
}
