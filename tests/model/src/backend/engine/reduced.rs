//! The time of a search. Makes machines equal if they differ only in fields that the model does not use.

use std::time::Duration;

use crate::backend::engine::competing::Competing;
use crate::backend::engine::competing::event::{Event, Knows};
use crate::backend::engine::ending::{Ending, Phase, Way};
use crate::backend::engine::holding::{Holding, MAX_LOCAL_TIME};
use crate::backend::engine::local_queue::{LocalQueue, WaiterId};
use crate::backend::wire::outstanding::{ConnectionId, Outstanding};
use crate::background::moment::Moment;

/// The constant present. Time passes by moving all moments instead; moments in the past are equal.
pub(crate) const NOW: Moment = Moment::FIRST;

/// The model chooses the length of each pause.
pub(crate) const JITTER: f64 = 0.5;

impl Ending {
    pub(crate) fn pass(&mut self, time: Duration) {
        let earlier = |moment: Moment| NOW + moment.since(NOW + time);
        self.reserved_until = self
            .reserved_until
            .map(earlier)
            .filter(|&until| until > NOW);
        if let Phase::Settling { settling, .. } = &mut self.phase {
            settling.shift(earlier);
        }
    }

    /// Forgets how long the pauses are: in the model each has any length. No shutdown of the model
    /// waits for an end.
    pub(crate) fn reduce(&mut self) {
        match &mut self.phase {
            Phase::Urgent { failures } => *failures = 0,
            Phase::Settling {
                settling,
                is_awaited,
                ..
            } => {
                settling.reduce();
                *is_awaited = false;
            }
            Phase::First | Phase::Over => {}
        }
    }

    /// Whether the lock must stay taken.
    pub(crate) fn reserves(&self) -> bool {
        self.reserved_until.is_some()
    }

    /// Whether the next command, or the one in flight, is a release.
    pub(crate) fn releases(&self) -> bool {
        self.way == Way::Release
    }

    /// Whether the next caller of the local queue must be promoted.
    pub(crate) fn owes_head(&self) -> bool {
        self.owes.head
    }

    /// Whether the caller of the release awaits a report.
    pub(crate) fn owes_report(&self) -> bool {
        self.owes.report
    }

    /// Whether no command of the owner can still arrive.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Settling { settling, .. } if settling.is_last(NOW))
    }
}

impl Competing<Outstanding> {
    /// Forgets what the next attempt does not depend on. That attempt may begin at any time if the
    /// call `waits`; a call whose time is up has had an answer.
    ///
    /// Only a call that is refused, and wants one lock, reads which lock was in the way.
    pub(crate) fn reduce(&mut self, present: ConnectionId, waits: bool, may_be_refused: bool) {
        if !may_be_refused {
            self.in_the_way = 0;
        }
        let Some(owner) = &mut self.owner else {
            return;
        };
        owner.reduce(present, false, false);
        if self.knows == Knows::Nothing {
            self.knows = Knows::Failed;
        }
        if waits {
            self.on(Event::Due, || NOW);
        }
    }

    /// Like `reduce`, for a call that nothing refuses and that may want several locks.
    pub(crate) fn reduce_several(&mut self, present: ConnectionId, waits: bool) {
        let is_one = self.in_the_way().is_none();
        self.reduce(present, waits, !is_one);
        if let Some(owner) = &mut self.owner {
            owner.reduce_queued();
        }
    }

    /// A loss goes unnoticed only with a seeded mistake.
    pub(crate) fn forget_what_it_had(&mut self) {
        self.in_the_way = 0;
    }
}

/// The constant present for a held lock: its grant is earlier.
pub(crate) const NOW_HELD: Moment = Moment::from_nanos(1 << 50);

impl Holding {
    /// Lets `time` pass. Grants that are too old to be handed over while waiters queue are equal.
    pub(crate) fn pass(&mut self, time: Duration) {
        let age = NOW_HELD.since(self.granted_at) + time;
        self.granted_at = before_now(age);
    }
}

/// The moment of a grant of that age.
pub(crate) fn before_now(age: Duration) -> Moment {
    let age = age.min(MAX_LOCAL_TIME).as_nanos() as u64;
    Moment::from_nanos(NOW_HELD.as_nanos() - age)
}

impl<Waiter, Known: Clone> LocalQueue<Waiter, Known> {
    pub(crate) fn heads(&self) -> usize {
        self.heads as usize
    }

    /// The id of the next waiter.
    pub(crate) fn next_id(&self) -> WaiterId {
        let waiters = self.waiters.as_ref();
        let last = waiters.and_then(|waiters| waiters.back());
        last.map_or(WaiterId(0), |(id, _)| WaiterId(id.0 + 1))
    }

    /// Removes the first waiter. `false` if there is none.
    pub(crate) fn leave_first(&mut self) -> bool {
        let waiters = self.waiters.as_ref();
        let first = waiters.and_then(|waiters| waiters.front());
        let id = first.map(|&(id, _)| id);
        id.is_some_and(|id| self.leave(id).is_some())
    }

    /// Renames the waiters.
    pub(crate) fn reduce(&mut self) {
        self.waiters.take_if(|waiters| waiters.is_empty());
        let waiters = self
            .waiters
            .iter_mut()
            .flat_map(|waiters| waiters.iter_mut());
        for (number, (id, _)) in (0..).zip(waiters) {
            *id = WaiterId(number);
        }
    }
}
