//! What is known of the commands that one owner has sent.
//!
//! An acquire whose answer never came may still be on its way, and a torn connection's bytes can
//! arrive after those of the connection that replaced it. If the owner's `end` overtakes its
//! acquire like that, the acquire takes the lock for somebody who is gone. On one connection the
//! order is kept, so only an unanswered acquire on *another* connection than the `end`'s is
//! dangerous: the owner is then tainted, and its `end` must be repeated until nothing of it can
//! arrive any more.

use std::time::Duration;

/// Which of a client's successive connections; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// The commands of one owner that could still make it hold or queue.
#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    /// The last connection on which such a command was sent, if that was not answered.
    unanswered: Option<ConnectionId>,
    /// Nor was one before it on the same connection.
    twice: bool,
    /// One was sent on a connection before that, which will not answer any more.
    unanswered_before: bool,
    /// It may hold the lock or stand in its queue, for all that is known.
    may_be_stored: bool,
    queued: bool,
    /// It has had one, and not only asked for it.
    waited: bool,
    /// It may hold the lock by a command of its own, for all of the ttl that this asked for. Whoever only
    /// queues is served for a moment at most, and forgotten soon.
    may_hold: bool,
    /// The ttl that it asks for, always the same; zero as long as it has not.
    ttl: Duration,
    tainted: bool,
    /// Its `end`s and `release`s that were sent and not answered: each may have been carried out.
    unanswered_ends: u32,
}

impl Outstanding {
    /// A command that makes the owner hold for `ttl`, or queue, is about to be sent.
    pub(crate) fn sending(&mut self, on: ConnectionId, ttl: Duration, queue: bool) {
        self.may_be_stored = true;
        self.may_hold = true;
        self.queued |= queue;
        self.ttl = ttl;
        let last = self.unanswered.replace(on);
        self.twice = last == Some(on);
        self.unanswered_before |= last.is_some_and(|last| last != on);
    }

    /// The command that was about to be sent never was. Those before it on this connection may still
    /// be on their way.
    pub(crate) fn unsent(&mut self, on: ConnectionId) {
        if !self.twice {
            self.answered(on);
        }
    }

    /// The last command sent on this connection was answered; a connection answers in order, so
    /// all before it have been carried out, too.
    pub(crate) fn answered(&mut self, on: ConnectionId) {
        self.unanswered
            .take_if(|connection_id| *connection_id == on);
    }

    /// The owner's `end` or `release` is about to be sent.
    pub(crate) fn ending(&mut self, on: ConnectionId) {
        let elsewhere = self.unanswered.is_some_and(|last| last != on);
        self.tainted |= elsewhere || self.unanswered_before;
        self.unanswered_ends += 1;
    }

    /// The `end` or `release` that was sent last was answered, be it by a refusal, or was not sent after
    /// all.
    pub(crate) fn ending_is_known(&mut self) {
        self.unanswered_ends = self.unanswered_ends.saturating_sub(1);
    }

    /// Whether the owner may have been ended by a command that was not answered.
    pub(crate) fn may_have_ended(&self) -> bool {
        self.unanswered_ends > 0
    }

    /// Whether the owner may be had by a caller that asks for `ttl`. An acquire sets the lease to its
    /// ttl, however late it arrives, so an owner asks for one all its life.
    pub(crate) fn may_ask_for(&self, ttl: Duration) -> bool {
        self.ttl.is_zero() || self.ttl == ttl
    }

    /// The owner has a place in the queue, or may have been given one.
    pub(crate) fn note_queued(&mut self) {
        self.waited = true;
    }

    /// Whether the owner may be served yet, for all that is known: it had a place in the queue, or may get
    /// one by a command that is still under way.
    pub(crate) fn may_be_granted(&self) -> bool {
        self.waited || self.may_arrive()
    }

    /// The owner is not known well: it may stand anywhere.
    pub(crate) fn assume_stored(&mut self) {
        self.may_be_stored = true;
    }

    /// Whether the owner may hold the lock for as long as it asked for.
    pub(crate) fn may_hold(&self) -> bool {
        self.may_hold
    }

    /// Whether a command that makes the owner hold or queue may still be on its way.
    pub(crate) fn may_arrive(&self) -> bool {
        self.unanswered.is_some() || self.unanswered_before
    }

    /// The last command was answered, and the owner does not hold the lock. Unless it ever
    /// queued, nothing of it is left.
    pub(crate) fn note_not_held(&mut self) {
        self.may_hold = self.may_arrive();
        self.may_be_stored = self.queued || self.may_hold;
    }

    /// Whether the owner has to be ended.
    pub(crate) fn may_be_stored(&self) -> bool {
        self.may_be_stored
    }

    /// The longest that anything of the owner can last in Redis after it has arrived there.
    pub(crate) fn longest(&self) -> Duration {
        self.ttl
    }

    pub(crate) fn is_tainted(&self) -> bool {
        self.tainted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(30);

    const FIRST: ConnectionId = ConnectionId(1);
    const SECOND: ConnectionId = ConnectionId(2);

    #[test]
    fn order_on_one_connection_is_enough() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, true);
        outstanding.ending(FIRST);
        assert!(!outstanding.is_tainted());
    }

    #[test]
    fn who_only_queues_holds_nothing() {
        let mut outstanding = Outstanding::default();
        assert!(!outstanding.may_hold());
        outstanding.sending(FIRST, TTL, true);
        assert!(outstanding.may_hold(), "for all that is known");
        outstanding.answered(FIRST);
        outstanding.note_not_held();
        assert!(!outstanding.may_hold() && outstanding.may_be_stored());
        outstanding.sending(FIRST, TTL, true);
        outstanding.note_not_held();
        assert!(outstanding.may_hold(), "the last one was not answered");
    }

    #[test]
    fn an_answered_acquire_cannot_come_late() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, true);
        outstanding.answered(FIRST);
        outstanding.ending(SECOND);
        assert!(!outstanding.is_tainted());
    }

    #[test]
    fn an_acquire_that_was_never_sent_cannot_come_late() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, true);
        outstanding.unsent(FIRST);
        outstanding.sending(SECOND, TTL, true);
        outstanding.ending(SECOND);
        assert!(!outstanding.is_tainted());
    }

    #[test]
    fn one_that_was_sent_before_it_still_can() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, true);
        outstanding.sending(FIRST, TTL, true);
        outstanding.unsent(FIRST);
        outstanding.sending(SECOND, TTL, true);
        outstanding.answered(SECOND);
        outstanding.ending(SECOND);
        assert!(outstanding.is_tainted());
    }

    #[test]
    fn an_acquire_unanswered_elsewhere_taints_for_good() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, true);
        outstanding.sending(SECOND, TTL, true);
        outstanding.answered(SECOND);
        outstanding.ending(SECOND);
        assert!(outstanding.is_tainted());
        outstanding.ending(FIRST);
        assert!(outstanding.is_tainted());
    }

    #[test]
    fn an_answer_speaks_for_its_own_connection_alone() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, false);
        outstanding.sending(FIRST, TTL, false);
        outstanding.answered(FIRST);
        outstanding.note_not_held();
        assert!(
            !outstanding.may_be_stored(),
            "both were sent on one connection"
        );
        outstanding.sending(FIRST, TTL, false);
        outstanding.sending(SECOND, TTL, false);
        outstanding.sending(SECOND, TTL, false);
        outstanding.answered(SECOND);
        outstanding.note_not_held();
        assert!(
            outstanding.may_be_stored(),
            "the first one owes an answer for ever"
        );
        outstanding.ending(SECOND);
        assert!(outstanding.is_tainted());
    }

    #[test]
    fn an_attempt_that_was_answered_leaves_nothing_unless_it_queued() {
        let mut outstanding = Outstanding::default();
        assert!(!outstanding.may_be_stored());
        outstanding.sending(FIRST, TTL, false);
        outstanding.note_not_held();
        assert!(outstanding.may_be_stored(), "it is not answered yet");
        outstanding.answered(FIRST);
        outstanding.note_not_held();
        assert!(!outstanding.may_be_stored());
        outstanding.sending(FIRST, TTL, true);
        outstanding.answered(FIRST);
        outstanding.note_not_held();
        assert!(outstanding.may_be_stored(), "it stands in the queue");
        assert_eq!(outstanding.longest(), TTL);
    }

    #[test]
    fn an_end_that_is_repeated_elsewhere_is_judged_anew() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, true);
        outstanding.ending(FIRST);
        outstanding.ending(SECOND);
        assert!(outstanding.is_tainted());
    }
}
