//! Reports changes in the nodes' health to operators, each of them once.

use std::mem;
use std::time::Duration;

use crate::backend::redis::CLOCK;
use crate::backend::wire::error::WireError;
use crate::background::moment::Moment;
use crate::background::sync::Mutex;
use crate::telemetry;

/// The health of a node, according to the last command to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Health {
    Up,
    Away,
    /// The node answers, but is unusable: it is out of memory, or does not know the user.
    Refuses,
    /// The node's clock is so far off that its votes do not count.
    ClockOff,
}

#[derive(Debug)]
pub(super) struct NodeHealth {
    pub(super) name: String,
    last: Mutex<Last>,
}

#[derive(Debug)]
struct Last {
    health: Health,
    /// When a command last failed.
    failed: Option<Moment>,
}

impl NodeHealth {
    pub(super) fn new(name: String) -> NodeHealth {
        NodeHealth {
            name,
            last: Mutex::new(Last {
                health: Health::Up,
                failed: None,
            }),
        }
    }

    /// Notes that the node is usable, since it carried out an acquire that was sent at `sent`. Commands that were sent
    /// before the last failure do not count, since their answers may be noted after it.
    pub(super) fn answered(&self, sent: Moment) {
        self.is_up_if(|last| last.failed.is_none_or(|failed| sent >= failed));
    }

    /// Notes that the node answered. It may still refuse other commands: without memory it renews and ends leases, but
    /// grants none.
    pub(super) fn is_reached(&self) {
        self.is_up_if(|last| last.health == Health::Away);
    }

    fn is_up_if(&self, shows: impl FnOnce(&Last) -> bool) {
        let before = {
            let mut last = self.last.lock();
            if !shows(&last) {
                return;
            }
            mem::replace(&mut last.health, Health::Up)
        };
        if matches!(before, Health::Away | Health::Refuses) {
            telemetry::node_back(&self.name);
        }
    }

    /// Notes the node's answers to these commands. All of them may have failed.
    pub(super) fn note<T>(&self, answers: &[Result<T, WireError>]) {
        match answers.iter().find_map(|answer| answer.as_ref().err()) {
            Some(error) if answers.iter().all(Result::is_err) => self.failed(error),
            _ => self.is_reached(),
        }
    }

    /// Notes that a command to the node failed.
    pub(super) fn failed(&self, error: &WireError) {
        let health = match error {
            WireError::Unavailable(_) => Health::Away,
            WireError::Refused(detail) if is_of_a_lock(&detail.to_string()) => return,
            WireError::Refused(_) => Health::Refuses,
        };
        self.last.lock().failed = Some(CLOCK.now());
        if self.change(health).is_some() {
            telemetry::node_away(&self.name, &error.to_string());
        }
    }

    /// Notes that the node answered, and that its clock is off.
    pub(super) fn clock_is_off(&self, by: Duration) {
        if self.change(Health::ClockOff).is_some() {
            telemetry::node_clock(&self.name, by);
        }
    }

    /// Returns the previous health, if this changes it. The caller sends the event after the mutex is free, since a
    /// subscriber may block.
    fn change(&self, to: Health) -> Option<Health> {
        let mut last = self.last.lock();
        let before = mem::replace(&mut last.health, to);
        (before != to).then_some(before)
    }
}

/// Returns whether a refusal is about the records of one lock: its queue is full, or a record has another type.
fn is_of_a_lock(text: &str) -> bool {
    let code = text.split(' ').next().unwrap_or_default();
    code == "WRONGTYPE" || code.starts_with("LOCK") && code != "LOCKDELAY"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_reported_once() {
        let health = NodeHealth::new("a:6379".to_owned());
        assert_eq!(health.change(Health::Up), None, "a node is up at first");
        assert_eq!(health.change(Health::Away), Some(Health::Up));
        assert_eq!(health.change(Health::Away), None);
        assert_eq!(health.change(Health::ClockOff), Some(Health::Away));
        assert_eq!(health.change(Health::Up), Some(Health::ClockOff));
    }

    #[test]
    fn node_that_refuses_stays_unhealthy_after_a_renewal() {
        let health = NodeHealth::new("a:6379".to_owned());
        let last = || health.last.lock().health;
        health.failed(&WireError::refused("LOCKQUEUEFULL too many waiters"));
        assert_eq!(last(), Health::Up, "other locks are not concerned");
        health.failed(&WireError::refused("OOM command not allowed"));
        health.is_reached();
        assert_eq!(last(), Health::Refuses);
        health.answered(CLOCK.now());
        assert_eq!(last(), Health::Up);
        health.failed(&WireError::unavailable("no answer"));
        health.is_reached();
        assert_eq!(last(), Health::Up);
    }

    #[test]
    fn late_answer_from_before_a_refusal_does_not_make_a_node_healthy() {
        let health = NodeHealth::new("a:6379".to_owned());
        let last = || health.last.lock().health;
        let sent = CLOCK.now();
        // The clock may have a coarse resolution.
        while CLOCK.now() == sent {
            std::hint::spin_loop();
        }
        health.failed(&WireError::refused("OOM command not allowed"));
        health.answered(sent);
        assert_eq!(last(), Health::Refuses);
        health.answered(CLOCK.now());
        assert_eq!(last(), Health::Up);
    }
}
