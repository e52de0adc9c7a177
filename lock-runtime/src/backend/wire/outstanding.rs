//! Tracks one owner's commands whose effects are unknown.
//!
//! An unanswered acquire may still be in flight, and the bytes of a closed connection can arrive after the bytes of the
//! connection that replaced it. If the owner's `end` overtakes its acquire in this way, the acquire takes the lock for
//! an owner that is gone. One connection keeps its commands in order, so an acquire is dangerous only if it is
//! unanswered on a connection *other* than the `end`'s. The owner is then *tainted*: its `end` is repeated until none
//! of its commands can arrive any longer.
//!
//! ```text
//!  KNOWN ── an acquire is sent ──► UNANSWERED on its connection ── sent again on another one ──► UNANSWERED for ever
//!    ▲                                 │
//!    ├── answered ─────────────────────┤
//!    ├── not sent after all ───────────┤  unless one before it, on the same connection, is unanswered
//!    └── refused ──────────────────────┘  what one before it did is unclear until the next answer
//!
//!  an end is sent while an acquire is UNANSWERED on another connection, or for ever ──► TAINTED for ever
//! ```

use std::time::Duration;

/// One of a client's successive connections. An id is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ConnectionId(pub(crate) u64);

/// The progress of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SendEvent {
    /// The command is about to be sent on this connection.
    Sending(ConnectionId),
    /// The command was not sent after all, and will be sent on another connection.
    Unsent(ConnectionId),
    Answered(ConnectionId),
    /// The answer is an error: the command has done nothing.
    Refused(ConnectionId),
}

/// Called at each step of a command.
pub(crate) type OnStep<'a> = &'a mut (dyn FnMut(SendEvent) + Send);

/// The commands of one owner that could still make it hold or queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Outstanding {
    /// The connection of the last acquire, until it is answered.
    pub(super) unanswered: Option<ConnectionId>,
    /// An earlier acquire on the same connection is not answered either.
    pub(super) is_repeated: bool,
    /// An acquire on an earlier connection is not answered, and never will be.
    pub(super) unanswered_before: bool,
    /// An acquire was carried out and its answer not read, and the next acquire was refused. So the effect of the first
    /// one is unknown.
    pub(super) is_unclear: bool,
    /// The owner may hold the lock or be in its queue.
    pub(super) may_be_stored: bool,
    /// An acquire asked for a place in the queue.
    pub(super) asked_to_queue: bool,
    /// The owner had a place in the queue.
    pub(super) was_queued: bool,
    /// One of the owner's own commands may have made it hold the lock, for the whole ttl that it asked for. A waiter
    /// that is granted the lock has only the time of its claim, until it confirms.
    pub(super) may_hold: bool,
    /// The ttl that the owner asks for, always the same; zero before the first acquire.
    pub(super) ttl: Duration,
    pub(super) is_tainted: bool,
    /// The last `end` or `release` is not answered, and may have been carried out.
    pub(super) is_end_unanswered: bool,
    /// An earlier `end` or `release` is not answered, and never will be.
    pub(super) is_end_unanswered_before: bool,
}

impl Outstanding {
    /// Notes the progress of an acquire.
    #[inline]
    pub(crate) fn note_acquire(&mut self, event: SendEvent, ttl: Duration, queue: bool) {
        match event {
            SendEvent::Sending(on) => self.sending(on, ttl, queue),
            SendEvent::Unsent(on) => self.unsent(on),
            SendEvent::Answered(on) => self.answered(on),
            SendEvent::Refused(on) => self.refused(on),
        }
    }

    /// Notes the progress of an end.
    #[inline]
    pub(crate) fn note_end(&mut self, event: SendEvent) {
        match event {
            SendEvent::Sending(on) => self.ending(on),
            SendEvent::Unsent(_) | SendEvent::Answered(_) | SendEvent::Refused(_) => {
                self.ending_is_known();
            }
        }
    }

    /// Notes that an acquire is about to be sent, so the owner may hold the lock for `ttl`, or queue.
    pub(crate) fn sending(&mut self, on: ConnectionId, ttl: Duration, queue: bool) {
        self.may_be_stored = true;
        self.may_hold = true;
        self.asked_to_queue |= queue;
        self.ttl = ttl;
        let last = self.unanswered.replace(on);
        self.is_repeated = last == Some(on);
        self.unanswered_before |= last.is_some_and(|last| last != on);
    }

    /// Notes that the acquire was not sent after all. Earlier ones on this connection may still be in flight.
    pub(crate) fn unsent(&mut self, on: ConnectionId) {
        if !self.is_repeated {
            self.unanswered.take_if(|connection| *connection == on);
        }
    }

    /// Notes that the last acquire on this connection was answered. A connection answers in order, so all earlier
    /// acquires on it were carried out, too.
    pub(crate) fn answered(&mut self, on: ConnectionId) {
        self.unanswered.take_if(|connection| *connection == on);
        self.is_unclear = false;
    }

    /// Notes that the last acquire on this connection was refused, and has done nothing. Earlier ones were carried out,
    /// and may have been granted the lock.
    pub(crate) fn refused(&mut self, on: ConnectionId) {
        let answered = self.unanswered.take_if(|connection| *connection == on);
        self.is_unclear |= answered.is_some() && self.is_repeated;
    }

    /// Notes that the owner's `end` or `release` is about to be sent.
    pub(crate) fn ending(&mut self, on: ConnectionId) {
        let is_elsewhere = self.unanswered.is_some_and(|last| last != on);
        self.is_tainted |= is_elsewhere || self.unanswered_before;
        self.is_end_unanswered_before |= self.is_end_unanswered;
        self.is_end_unanswered = true;
    }

    /// Notes that the last `end` or `release` was answered, if only by a refusal, or was not sent.
    pub(crate) fn ending_is_known(&mut self) {
        self.is_end_unanswered = false;
    }

    /// Returns whether an unanswered command may have ended the owner.
    pub(crate) fn may_have_ended(&self) -> bool {
        self.is_end_unanswered || self.is_end_unanswered_before
    }

    /// Returns whether a caller that asks for `ttl` may take the owner over. An acquire sets the lease to its ttl,
    /// however late it arrives, so an owner asks for one ttl all its life.
    pub(crate) fn may_ask_for(&self, ttl: Duration) -> bool {
        self.ttl.is_zero() || self.ttl == ttl
    }

    /// Notes that the owner has a place in the queue, or may have been given one.
    pub(crate) fn note_queued(&mut self) {
        self.was_queued = true;
    }

    /// Returns whether the owner may yet be granted the lock: it had a place in the queue, or an outstanding command
    /// may give it one.
    pub(crate) fn may_be_granted(&self) -> bool {
        self.was_queued || self.may_arrive()
    }

    /// Notes that the owner may hold the lock or queue because of commands that are no longer tracked.
    pub(crate) fn assume_stored(&mut self) {
        self.may_be_stored = true;
    }

    /// Returns whether the owner may hold the lock for as long as it asked for.
    pub(crate) fn may_hold(&self) -> bool {
        self.may_hold
    }

    /// Returns whether an acquire may still be in flight.
    pub(crate) fn may_arrive(&self) -> bool {
        self.unanswered.is_some() || self.unanswered_before
    }

    /// Notes that the last answer to an acquire showed that the owner does not hold the lock. Unless the owner ever
    /// queued, nothing of it is left.
    pub(crate) fn note_not_held(&mut self) {
        self.may_hold = self.may_arrive() || self.is_unclear;
        self.may_be_stored = self.asked_to_queue || self.may_hold;
    }

    /// Returns whether the owner must be ended.
    pub(crate) fn may_be_stored(&self) -> bool {
        self.may_be_stored
    }

    /// Returns how long anything of the owner can stay in Redis after it has arrived there.
    pub(crate) fn longest(&self) -> Duration {
        self.ttl
    }

    pub(crate) fn is_tainted(&self) -> bool {
        self.is_tainted
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
    fn waiter_holds_nothing() {
        let mut outstanding = Outstanding::default();
        assert!(!outstanding.may_hold());
        outstanding.sending(FIRST, TTL, true);
        assert!(outstanding.may_hold(), "the acquire is outstanding");
        outstanding.answered(FIRST);
        outstanding.note_not_held();
        assert!(!outstanding.may_hold() && outstanding.may_be_stored());
        outstanding.sending(FIRST, TTL, true);
        outstanding.note_not_held();
        assert!(outstanding.may_hold(), "the last one was not answered");
    }

    #[test]
    fn answered_acquire_cannot_come_late() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, true);
        outstanding.answered(FIRST);
        outstanding.ending(SECOND);
        assert!(!outstanding.is_tainted());
    }

    #[test]
    fn refusal_does_not_settle_an_earlier_acquire() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, false);
        outstanding.refused(FIRST);
        outstanding.note_not_held();
        assert!(!outstanding.may_be_stored(), "it was the only one");
        outstanding.sending(FIRST, TTL, false);
        outstanding.sending(FIRST, TTL, false);
        outstanding.refused(FIRST);
        outstanding.note_not_held();
        assert!(
            outstanding.may_hold(),
            "the first one may have been granted"
        );
        outstanding.sending(FIRST, TTL, false);
        outstanding.refused(FIRST);
        outstanding.sending(SECOND, TTL, false);
        outstanding.unsent(SECOND);
        outstanding.note_not_held();
        assert!(outstanding.may_hold(), "neither of these knew more");
        assert!(!outstanding.may_arrive(), "all were carried out");
        outstanding.sending(FIRST, TTL, false);
        outstanding.answered(FIRST);
        outstanding.note_not_held();
        assert!(!outstanding.may_be_stored());
    }

    #[test]
    fn unsent_acquire_cannot_come_late() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, true);
        outstanding.unsent(FIRST);
        outstanding.sending(SECOND, TTL, true);
        outstanding.ending(SECOND);
        assert!(!outstanding.is_tainted());
    }

    #[test]
    fn acquire_sent_before_an_unsent_acquire_can_come_late() {
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
    fn acquire_unanswered_on_another_connection_taints_for_good() {
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
    fn answer_counts_only_for_its_own_connection() {
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
    fn answered_attempt_leaves_nothing_unless_it_queued() {
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
        assert!(outstanding.may_be_stored(), "the owner is in the queue");
        assert_eq!(outstanding.longest(), TTL);
    }

    #[test]
    fn end_repeated_on_another_connection_is_checked_again() {
        let mut outstanding = Outstanding::default();
        outstanding.sending(FIRST, TTL, true);
        outstanding.ending(FIRST);
        outstanding.ending(SECOND);
        assert!(outstanding.is_tainted());
    }
}
