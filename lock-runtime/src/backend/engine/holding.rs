//! A held lock: decides what happens when its holder is done, and whether the lease is in doubt until then.
//!
//! ```text
//!              ┌──── connection breaks, slot moves ────┐
//!              ▼                                       │
//!      in doubt: OPEN ── renewal sent ──► CONFIRMING   │
//!              ▲ └───── not answered ◄─────┘   │       │
//!              │                               ▼ answered
//!  GRANTED ────┴──────────────────────────── HELD ◄──────────── next turn ────────────┐
//!                                              │                                      │
//!             done ─┬─ the next caller may have it ───────────────────────────────────┤
//!                   ├─ none waits, and it may be retained ─► RETAINED ─ a caller may ─┘
//!                   └─ otherwise ───────────────────────────────────────────────────────► ENDS
//!             lost ─── promotes the next caller, who begins with nothing
//! ```
//!
//! A turn does not change the grant: owner, deadline and renewals stay. So a lease that is handed over in doubt is
//! confirmed for its next holder. A lease in doubt is never retained, because nobody would confirm it.

use std::mem;
use std::time::Duration;

use crate::background::moment::Moment;

/// How long one grant may be handed from caller to caller in a process while waiters queue in Redis.
pub(crate) const MAX_LOCAL_TIME: Duration = Duration::from_secs(1);

/// A lock that is held, from its grant until it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Holding {
    /// When the acquire was sent whose answer was the grant.
    pub(super) granted_at: Moment,
    /// The number of unanswered renewals.
    unanswered: u32,
    /// How many callers had the grant before this holder; less than [`TURNS`](crate::config::TURNS).
    turn: u8,
    /// Waiters are known to queue in Redis: the lock is released by hand-off.
    is_contended: bool,
    /// The holder is the head of its local queue, and promotes the next caller when it is done.
    heads_queue: bool,
    doubt: Doubt,
}

/// Whether a lease was last confirmed on a connection that is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Doubt {
    #[default]
    None,
    /// The lease must be confirmed.
    Open,
    /// A confirmation is outstanding.
    Confirming,
}

/// The facts about a lease when its holder is done, or when another caller comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) now: Moment,
    pub(crate) deadline: Moment,
    /// The ttl of the owner's first request.
    pub(crate) ttl: Duration,
    /// A message named the owner: a waiter queues in Redis.
    pub(crate) is_named: bool,
    /// The minimum hold is not over.
    pub(crate) reserves: bool,
    /// The lease is lost, or its deadline has passed.
    pub(crate) is_over: bool,
    /// The caller has the lease, and no renewal has failed since the last confirmation.
    pub(crate) is_sure: bool,
    /// How many callers may have the grant.
    pub(crate) turns: u32,
}

/// The next holder of the lock, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// The first caller of the local queue.
    HandsOver,
    /// Nobody yet. The client's next caller may have it within this time.
    Retains(Duration),
    /// Nobody in this client: the lock is released.
    Ends,
}

impl Holding {
    #[inline]
    pub(crate) fn granted(granted_at: Moment, is_contended: bool, heads_queue: bool) -> Holding {
        Holding {
            granted_at,
            unanswered: 0,
            turn: 0,
            is_contended,
            heads_queue,
            doubt: Doubt::None,
        }
    }

    #[inline]
    pub(crate) fn granted_at(&self) -> Moment {
        self.granted_at
    }

    #[inline]
    pub(crate) fn is_contended(&self) -> bool {
        self.is_contended
    }

    #[inline]
    pub(crate) fn heads_queue(&self) -> bool {
        self.heads_queue
    }

    /// Returns how many callers had the grant before this one.
    #[inline]
    pub(crate) fn turn(&self) -> u8 {
        self.turn
    }

    /// Returns whether a renewal of the background is unanswered.
    #[inline]
    pub(crate) fn is_renewing(&self) -> bool {
        self.unanswered > 0
    }

    /// Decides what happens to the lock. `next` is the ttl that the first caller of the local queue asks for. Without
    /// one, the lock may be retained for up to `retain`.
    pub(crate) fn done(&self, next: Option<Duration>, retain: Duration, at: &Facts) -> Done {
        match next {
            Some(ttl) if self.may_go_to(ttl, at) => Done::HandsOver,
            Some(_) => Done::Ends,
            None => {
                let time = retain.min(self.room(at));
                if time.is_zero() || !self.may_be_retained(at) {
                    Done::Ends
                } else {
                    Done::Retains(time)
                }
            }
        }
    }

    /// Returns whether a caller that asks for this ttl may have the lease as it is.
    pub(crate) fn may_go_to(&self, ttl: Duration, at: &Facts) -> bool {
        let is_long = at.deadline.since(at.now) >= ttl * 2 / 3;
        let is_wanted = self.is_contended || at.is_named;
        let is_fair = !is_wanted || at.now.since(self.granted_at) < MAX_LOCAL_TIME;
        ttl == at.ttl && is_long && self.has_turn(at) && is_fair && !at.reserves && !at.is_over
    }

    fn has_turn(&self, at: &Facts) -> bool {
        u32::from(self.turn) + 1 < at.turns
    }

    /// Returns whether the lease may be retained: no other client is known to want it, and it is not in doubt. A broken
    /// connection counts as a message to every owner, since it may have lost one.
    fn may_be_retained(&self, at: &Facts) -> bool {
        let is_wanted = self.is_contended || at.is_named;
        let is_sure = self.unanswered == 0 && self.doubt == Doubt::None && at.is_sure;
        self.has_turn(at) && !is_wanted && is_sure && !at.reserves && !at.is_over
    }

    /// Returns how long the lease may be retained. Once less than two thirds of its ttl are left, no caller could have
    /// it.
    fn room(&self, at: &Facts) -> Duration {
        at.deadline.since(at.now).saturating_sub(at.ttl * 2 / 3)
    }

    /// Hands the lease over to the next caller. Returns whether a confirmation was outstanding. A lease in doubt is
    /// confirmed again when the caller gets it.
    pub(crate) fn handed_over(&mut self) -> bool {
        self.turn += 1;
        self.confirmation_is_over()
    }

    /// Notes that the next caller of the local queue is already its head.
    pub(crate) fn leave_queue(&mut self) {
        self.heads_queue = false;
    }

    /// Notes that the lock is lost. Returns whether to promote the next caller.
    pub(crate) fn lost(&mut self) -> bool {
        mem::take(&mut self.heads_queue)
    }

    /// Notes that the lease was last confirmed on a connection that is gone.
    pub(crate) fn doubted(&mut self) {
        if self.doubt == Doubt::None {
            self.doubt = Doubt::Open;
        }
    }

    pub(crate) fn is_in_doubt(&self) -> bool {
        self.doubt != Doubt::None
    }

    /// Returns whether the lease must be confirmed as soon as possible.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.doubt == Doubt::Open
    }

    /// Notes that a renewal is sent. Returns whether it is a confirmation.
    pub(crate) fn renews(&mut self) -> bool {
        self.unanswered += 1;
        let confirms = self.doubt == Doubt::Open;
        if confirms {
            self.doubt = Doubt::Confirming;
        }
        confirms
    }

    /// Notes that a renewal is sent at a caller's request. It confirms nothing.
    pub(crate) fn renews_out_of_turn(&mut self) {
        self.unanswered += 1;
    }

    /// Notes that a renewal was answered. If it `is_stale`, its connection is older than the break, and the answer
    /// proves nothing about the current server. Returns whether a confirmation was outstanding.
    pub(crate) fn confirmed(&mut self, is_stale: bool) -> bool {
        self.unanswered = 0;
        let was_outstanding = self.confirmation_is_over();
        if !is_stale {
            self.doubt = Doubt::None;
        }
        was_outstanding
    }

    /// Notes whether the answer to a renewal reports waiters.
    pub(crate) fn note_contended(&mut self, is_contended: bool) {
        self.is_contended |= is_contended;
    }

    /// Notes that a renewal was not answered. Returns whether a confirmation was outstanding.
    pub(crate) fn unanswered(&mut self) -> bool {
        self.unanswered = self.unanswered.saturating_sub(1);
        self.confirmation_is_over()
    }

    /// Notes that nobody waits for the answer to a confirmation any longer. Returns whether one was outstanding.
    pub(crate) fn confirmation_is_over(&mut self) -> bool {
        let was_outstanding = self.doubt == Doubt::Confirming;
        if was_outstanding {
            self.doubt = Doubt::Open;
        }
        was_outstanding
    }
}

#[cfg(test)]
mod tests;
