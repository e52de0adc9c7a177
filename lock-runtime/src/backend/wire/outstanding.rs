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
pub(crate) struct Incarnation(pub(crate) u64);

/// The commands of one owner that could still make it hold or queue.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    /// The last connection on which such a command was sent, if that was not answered.
    unanswered: Option<Incarnation>,
    /// Nor was one before it on the same connection.
    twice: bool,
    /// One was sent on a connection before that, which will not answer any more.
    unanswered_before: bool,
    /// It may hold the lock or stand in its queue, for all that is known.
    stands: bool,
    queued: bool,
    /// It has had one, and not only asked for it.
    waited: bool,
    /// It may hold the lock by a command of its own, for all of the ttl that this asked for. Whoever only
    /// queues is served for a moment at most, and forgotten soon.
    holds: bool,
    /// The ttl that it asks for, always the same; zero as long as it has not.
    ttl: Duration,
    tainted: bool,
    /// Its `end`s and `release`s that were sent and not answered: each may have been carried out.
    unanswered_ends: u32,
}

impl Chain {
    /// A command that makes the owner hold for `ttl`, or queue, is about to be sent.
    pub(crate) fn sending(&mut self, on: Incarnation, ttl: Duration, queue: bool) {
        self.stands = true;
        self.holds = true;
        self.queued |= queue;
        self.ttl = ttl;
        let last = self.unanswered.replace(on);
        self.twice = last == Some(on);
        self.unanswered_before |= last.is_some_and(|last| last != on);
    }

    /// The command that was about to be sent never was. Those before it on this connection may still
    /// be on their way.
    pub(crate) fn unsent(&mut self, on: Incarnation) {
        if !self.twice {
            self.answered(on);
        }
    }

    /// The last command sent on this connection was answered; a connection answers in order, so
    /// all before it have been carried out, too.
    pub(crate) fn answered(&mut self, on: Incarnation) {
        self.unanswered.take_if(|incarnation| *incarnation == on);
    }

    /// The owner's `end` or `release` is about to be sent.
    pub(crate) fn ending(&mut self, on: Incarnation) {
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
    pub(crate) fn fits(&self, ttl: Duration) -> bool {
        self.ttl.is_zero() || self.ttl == ttl
    }

    /// The owner has a place in the queue, or may have been given one.
    pub(crate) fn waits(&mut self) {
        self.waited = true;
    }

    /// Whether the owner may be served yet, for all that is known: it had a place in the queue, or may get
    /// one by a command that is still under way.
    pub(crate) fn may_be_served(&self) -> bool {
        self.waited || self.may_arrive()
    }

    /// The owner is not known well: it may stand anywhere.
    pub(crate) fn stands_somehow(&mut self) {
        self.stands = true;
    }

    /// Whether the owner may hold the lock for as long as it asked for.
    pub(crate) fn holds(&self) -> bool {
        self.holds
    }

    /// Whether a command that makes the owner hold or queue may still be on its way.
    pub(crate) fn may_arrive(&self) -> bool {
        self.unanswered.is_some() || self.unanswered_before
    }

    /// The last command was answered, and the owner does not hold the lock. Unless it ever
    /// queued, nothing of it is left.
    pub(crate) fn not_held(&mut self) {
        self.holds = self.may_arrive();
        self.stands = self.queued || self.holds;
    }

    /// Whether the owner has to be ended.
    pub(crate) fn stands(&self) -> bool {
        self.stands
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

    const FIRST: Incarnation = Incarnation(1);
    const SECOND: Incarnation = Incarnation(2);

    #[test]
    fn order_on_one_connection_is_enough() {
        let mut chain = Chain::default();
        chain.sending(FIRST, TTL, true);
        chain.ending(FIRST);
        assert!(!chain.is_tainted());
    }

    #[test]
    fn who_only_queues_holds_nothing() {
        let mut chain = Chain::default();
        assert!(!chain.holds());
        chain.sending(FIRST, TTL, true);
        assert!(chain.holds(), "for all that is known");
        chain.answered(FIRST);
        chain.not_held();
        assert!(!chain.holds() && chain.stands());
        chain.sending(FIRST, TTL, true);
        chain.not_held();
        assert!(chain.holds(), "the last one was not answered");
    }

    #[test]
    fn an_answered_acquire_cannot_come_late() {
        let mut chain = Chain::default();
        chain.sending(FIRST, TTL, true);
        chain.answered(FIRST);
        chain.ending(SECOND);
        assert!(!chain.is_tainted());
    }

    #[test]
    fn an_acquire_that_was_never_sent_cannot_come_late() {
        let mut chain = Chain::default();
        chain.sending(FIRST, TTL, true);
        chain.unsent(FIRST);
        chain.sending(SECOND, TTL, true);
        chain.ending(SECOND);
        assert!(!chain.is_tainted());
    }

    #[test]
    fn one_that_was_sent_before_it_still_can() {
        let mut chain = Chain::default();
        chain.sending(FIRST, TTL, true);
        chain.sending(FIRST, TTL, true);
        chain.unsent(FIRST);
        chain.sending(SECOND, TTL, true);
        chain.answered(SECOND);
        chain.ending(SECOND);
        assert!(chain.is_tainted());
    }

    #[test]
    fn an_acquire_unanswered_elsewhere_taints_for_good() {
        let mut chain = Chain::default();
        chain.sending(FIRST, TTL, true);
        chain.sending(SECOND, TTL, true);
        chain.answered(SECOND);
        chain.ending(SECOND);
        assert!(chain.is_tainted());
        chain.ending(FIRST);
        assert!(chain.is_tainted());
    }

    #[test]
    fn an_answer_speaks_for_its_own_connection_alone() {
        let mut chain = Chain::default();
        chain.sending(FIRST, TTL, false);
        chain.sending(FIRST, TTL, false);
        chain.answered(FIRST);
        chain.not_held();
        assert!(!chain.stands(), "both were sent on one connection");
        chain.sending(FIRST, TTL, false);
        chain.sending(SECOND, TTL, false);
        chain.sending(SECOND, TTL, false);
        chain.answered(SECOND);
        chain.not_held();
        assert!(chain.stands(), "the first one owes an answer for ever");
        chain.ending(SECOND);
        assert!(chain.is_tainted());
    }

    #[test]
    fn an_attempt_that_was_answered_leaves_nothing_unless_it_queued() {
        let mut chain = Chain::default();
        assert!(!chain.stands());
        chain.sending(FIRST, TTL, false);
        chain.not_held();
        assert!(chain.stands(), "it is not answered yet");
        chain.answered(FIRST);
        chain.not_held();
        assert!(!chain.stands());
        chain.sending(FIRST, TTL, true);
        chain.answered(FIRST);
        chain.not_held();
        assert!(chain.stands(), "it stands in the queue");
        assert_eq!(chain.longest(), TTL);
    }

    #[test]
    fn an_end_that_is_repeated_elsewhere_is_judged_anew() {
        let mut chain = Chain::default();
        chain.sending(FIRST, TTL, true);
        chain.ending(FIRST);
        chain.ending(SECOND);
        assert!(chain.is_tainted());
    }
}
