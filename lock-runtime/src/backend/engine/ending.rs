//! Ends an owner, from its first command until nothing of the owner can be left on the server.
//!
//! ```text
//!  HOLDER, urgent                                 OTHER OWNER        NODE of a quorum
//!  sends RELEASE, REST, END,                      sends END          sends RELEASE or END
//!  or END for a successor                             │                      │
//!     │   ▲   ▲                                       │    (contended: END)  │
//!     │   │   └─ contended: END                       │                      │
//!     │   └── no answer: BACK OFF, until its          │                      │
//!     │       caller waits no longer: reports         │                      │
//!     ▼                                               │                      │
//!  answered, refused, or unanswered after that:       │                      │
//!  promotes the next caller (a named successor:       │                      │
//!  at the first outcome), reports                     │                      │
//!     └───────────────────────────────────────────────┴──────────┬───────────┘
//!                                                                ▼
//!   ┌── unanswered, refused while it may hold, or tainted ──── first end ──── otherwise ──► OVER
//!   ▼                                                                                        ▲
//!  SETTLING: a PAUSE, END or REST, a PAUSE, … ── answered (if tainted: the last one) ────────┤
//!     │  ▲                                                                                   │
//!     │  └── KEPT until the next connection ◄── no answer, and an acquire may be in a socket │
//!     └───────────────────────── nothing of the owner can be left ───────────────────────────┘
//! ```
//!
//! Waiters want a holder's lock, and a broken connection is replaced at once. So an unanswered end of a holder is
//! retried after a short backoff, until its caller stops waiting. From then on, like the end of any other owner, it is
//! repeated on the schedule of [`Settling`] until it is answered, or until nothing of the owner can be left. For a
//! holder a refusal does not count as an answer: a server may refuse briefly while a password or certificate is
//! rotated.
//!
//! An answer is not enough if an acquire of the owner is unanswered on another connection. That acquire may arrive
//! later, and take the lock for an owner that is gone. Such a *tainted* owner is ended again and again, whatever the
//! answers are, for as long as one of its commands can still arrive.
//!
//! # Invariants
//!
//! - A tainted owner is ended again and again until the server answers an end that was sent after max(ttl, 10 s), or
//!   until nothing of the owner can be left. If no answer came until then, the next connection ends it, too.

use std::time::Duration;

use crate::backend::wire::outstanding::Outstanding;
use crate::backend::wire::reply::EndReply;
use crate::backend::wire::settling::Settling;
use crate::background::moment::Moment;
use crate::lease::Mode;
use crate::lease::record::Grant;

/// The resolution of expiries.
const SHORTEST_RESERVATION: Duration = Duration::from_millis(1);

/// A command that ends an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Frees the lock, unless a waiter queues for it.
    Release,
    /// Ends the owner and grants the lock to the first waiter.
    End,
    /// Like `End`. Without a waiter, the successor gets the lock: the next caller of the local queue.
    EndForSuccessor,
    /// Keeps the lock taken for this time, by no owner.
    Reserve(Duration),
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Answered(EndReply),
    Refused,
    /// The command was not sent, or not answered.
    Unavailable,
}

/// The reaction to an event, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an end that goes on is lost otherwise"]
pub(crate) struct Reaction {
    /// Promote the next caller of the local queue to its head.
    pub(crate) promotes: Option<Head>,
    /// Report the outcome of the release to its caller.
    pub(crate) reports: Option<Report>,
    pub(crate) then: Then,
}

/// How an end continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    Send(Command),
    /// Ask for the next command after a backoff for this many failures in a row, or when the caller stops waiting.
    BackOff(u32),
    /// Ask for the next command after this time.
    Pause(Duration),
    /// Keep the owner until there is another connection, and ask for the next command then. Nobody answered in all the
    /// time in which its commands could arrive. If the server was frozen, they arrive when it goes on.
    Keep,
    /// Nothing of the owner is left, or nothing that another end could change.
    Over,
}

/// How the next head of the local queue begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Head {
    /// Nothing. A successor that the end named must itself be ended.
    Fresh,
    /// The successor, which may or may not be in the queue.
    Queued,
    /// The successor, which is in the queue.
    Confirmed,
    /// The successor, which has the lock.
    Granted(Grant),
}

/// The outcome of a release, for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Freed,
    Reserved,
    NotOurs,
    Unconfirmed,
}

/// The end of one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Ending {
    pub(super) phase: Phase,
    pub(super) way: Way,
    /// When the reservation of the lock ends, if its holder is done earlier. `None` once the server has confirmed the
    /// reservation.
    pub(super) reserved_until: Option<Moment>,
    pub(super) owes: Debts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Phase {
    /// The first end of a holder whose caller may still wait. It has failed this often.
    Urgent {
        failures: u32,
    },
    /// The first end of any other owner, or the last attempt for a holder.
    First,
    Settling {
        settling: Settling,
        /// Once the end in flight is answered, nothing of the owner can be left.
        is_last: bool,
        is_awaited: bool,
    },
    Over,
}

/// How the next command, or the command in flight, ends the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Way {
    Release,
    EndForSuccessor,
    /// For when a waiter queues, or the owner's state on the server is unknown. A lock that must stay taken is
    /// reserved.
    End,
}

/// Results that others are still waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Debts {
    pub(super) head: bool,
    pub(super) report: bool,
}

impl Ending {
    /// Ends a holder. With `heads_queue`, the next caller of the local queue must be promoted.
    #[inline]
    pub(crate) fn of_holder(
        is_contended: bool,
        heads_queue: bool,
        reserved_until: Option<Moment>,
    ) -> Ending {
        let is_free = !is_contended && reserved_until.is_none();
        Ending {
            phase: Phase::Urgent { failures: 0 },
            way: if is_free { Way::Release } else { Way::End },
            reserved_until,
            owes: Debts {
                head: heads_queue,
                report: true,
            },
        }
    }

    /// Ends an owner whose call gave up; `None` if nothing of it can be left.
    #[inline]
    pub(crate) fn of_owner(owner: &Outstanding) -> Option<Ending> {
        owner.may_be_stored().then(|| Ending::unhurried(Way::End))
    }

    /// Ends an owner on a node of a quorum.
    #[inline]
    pub(crate) fn of_node(is_contended: bool) -> Ending {
        Ending::unhurried(if is_contended { Way::End } else { Way::Release })
    }

    /// Creates an end that nobody waits for.
    #[inline]
    fn unhurried(way: Way) -> Ending {
        Ending {
            phase: Phase::First,
            way,
            reserved_until: None,
            owes: Debts {
                head: false,
                report: false,
            },
        }
    }

    /// Notes that a waiter queues. Called before the first command.
    #[inline]
    pub(crate) fn contended(&mut self) {
        debug_assert!(self.way != Way::EndForSuccessor, "the successor comes last");
        self.way = Way::End;
    }

    /// Returns whether the first end may name the next caller of the local queue as the successor. A writer's end
    /// admits all readers at the head of the queue, whereas an end with a successor grants the lock to one waiter.
    #[inline]
    pub(crate) fn may_name_successor(&self, mode: Mode) -> bool {
        self.owes.head && self.reserved_until.is_none() && mode != Mode::Write
    }

    /// Makes the first end name a successor.
    #[inline]
    pub(crate) fn name_successor(&mut self) {
        self.way = Way::EndForSuccessor;
    }

    /// Returns the command to send now: the first one, or the next one after a pause.
    #[inline]
    pub(crate) fn command(&mut self, now: impl Fn() -> Moment) -> Command {
        if let Phase::Settling {
            settling,
            is_last,
            is_awaited,
        } = &mut self.phase
        {
            *is_last = settling.is_last(now());
            *is_awaited &= !*is_last;
        }
        match self.way {
            Way::Release => Command::Release,
            Way::EndForSuccessor => Command::EndForSuccessor,
            Way::End => self.reservation(now).map_or(Command::End, Command::Reserve),
        }
    }

    /// Returns how long the lock must stay reserved.
    #[inline]
    fn reservation(&self, now: impl Fn() -> Moment) -> Option<Duration> {
        let time = self.reserved_until?.since(now());
        (time >= SHORTEST_RESERVATION).then_some(time)
    }

    /// Gives the caller of the release its report, since it stops waiting. The end is no longer urgent.
    #[inline]
    pub(crate) fn late(&mut self) -> Option<Report> {
        if let Phase::Urgent { .. } = self.phase {
            self.phase = Phase::First;
        }
        std::mem::take(&mut self.owes.report).then_some(Report::Unconfirmed)
    }

    /// Handles the outcome of the last command, or the end of its wait. `owner` has noted the outcome already.
    #[inline]
    pub(crate) fn on(
        &mut self,
        event: Event,
        owner: &Outstanding,
        now: impl Fn() -> Moment,
        jitter: impl FnOnce() -> f64,
    ) -> Reaction {
        if event == Event::Answered(EndReply::Contended) && self.way == Way::Release {
            self.way = Way::End;
            return Reaction {
                promotes: None,
                reports: None,
                then: Then::Send(self.command(now)),
            };
        }
        if let Event::Answered(_) = event {
            // The owner no longer holds anything, so the next end has nothing to reserve.
            self.reserved_until = None;
        }
        let mut promotes = None;
        if self.way == Way::EndForSuccessor {
            self.owes.head = false;
            self.way = Way::End;
            promotes = Some(head_after(event));
        }
        if let Phase::Urgent { failures } = &mut self.phase
            && event == Event::Unavailable
        {
            *failures += 1;
            return Reaction {
                promotes,
                reports: None,
                then: Then::BackOff(*failures),
            };
        }
        if std::mem::take(&mut self.owes.head) {
            promotes = Some(Head::Fresh);
        }
        let reports = std::mem::take(&mut self.owes.report).then(|| report_of(event, owner));
        let then = self.settle(event, owner, now, jitter);
        Reaction {
            promotes,
            reports,
            then,
        }
    }

    #[inline]
    fn settle(
        &mut self,
        event: Event,
        owner: &Outstanding,
        now: impl Fn() -> Moment,
        jitter: impl FnOnce() -> f64,
    ) -> Then {
        let is_unanswered = match event {
            Event::Answered(_) => false,
            Event::Unavailable => true,
            Event::Refused => owner.may_hold(),
        };
        let is_over = match self.phase {
            Phase::Urgent { .. } | Phase::First => !is_unanswered && !owner.is_tainted(),
            Phase::Settling { is_last, .. } => !is_unanswered && is_last,
            Phase::Over => true,
        };
        if is_over {
            self.phase = Phase::Over;
            return Then::Over;
        }
        let now = now();
        let (mut settling, was_awaited) = match self.phase {
            Phase::Settling {
                settling,
                is_awaited,
                ..
            } => (settling, is_awaited),
            _ => (Settling::begin(owner, now), true),
        };
        let Some(pause) = settling.pause(owner, is_unanswered, now, jitter) else {
            // What the owner has taken already ends by itself.
            if event == Event::Unavailable && owner.may_arrive() {
                return Then::Keep;
            }
            self.phase = Phase::Over;
            return Then::Over;
        };
        // The owner's state on the server is unknown now.
        self.way = Way::End;
        self.phase = Phase::Settling {
            settling,
            is_last: false,
            is_awaited: was_awaited && is_unanswered,
        };
        Then::Pause(pause)
    }

    /// Returns whether a shutdown waits for this end. It waits only for an answer: a tainted owner is ended again for
    /// seconds, but is not known to hold the lock.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        match self.phase {
            Phase::Urgent { .. } | Phase::First => true,
            Phase::Settling { is_awaited, .. } => is_awaited,
            Phase::Over => false,
        }
    }
}

/// Returns what the named successor inherits after the end.
#[inline]
fn head_after(event: Event) -> Head {
    match event {
        Event::Answered(EndReply::SuccessorHolds(grant)) => Head::Granted(grant),
        Event::Answered(EndReply::HandedOff) => Head::Confirmed,
        // If the wire sent the end twice, this may be the second answer, and the first end may have queued the
        // successor.
        Event::Answered(_) => Head::Fresh,
        Event::Refused | Event::Unavailable => Head::Queued,
    }
}

#[inline]
fn report_of(event: Event, owner: &Outstanding) -> Report {
    match event {
        // An unanswered end may have freed the lock.
        Event::Answered(EndReply::NotOurs | EndReply::LeftQueue) if owner.may_have_ended() => {
            Report::Unconfirmed
        }
        Event::Answered(EndReply::NotOurs | EndReply::LeftQueue) => Report::NotOurs,
        Event::Answered(EndReply::Reserved) => Report::Reserved,
        Event::Answered(EndReply::Freed | EndReply::HandedOff | EndReply::SuccessorHolds(_)) => {
            Report::Freed
        }
        // After a contended release, an end is sent before anything is reported.
        Event::Answered(EndReply::Contended) | Event::Refused | Event::Unavailable => {
            Report::Unconfirmed
        }
    }
}

#[cfg(test)]
mod tests;
