//! A call that competes for a lock, from its first attempt until it wins or gives up.
//!
//! ```text
//!  begins: FRESH, QUEUED ─► ATTEMPT     CONFIRMED ─► WAIT     GRANTED ─► WIN, or ATTEMPT if its lease is over
//!
//!  ATTEMPT ─┬─ granted ──── [AWAIT REPLICAS] ─┬─ in time ───────────────► WIN
//!           │                                 ├─ too late ──────────────► WAIT
//!           │                                 └─ too few ── GIVE BACK ──► WAIT
//!           ├─ waiting ──── [CHECK REPLICAS] ─┬─────────────────────────► WAIT
//!           │                                 ├─ no queue ── LISTEN ────► WAIT, or ATTEMPT after a release
//!           │                                 └─ lost one ── BEGIN ANEW ► WAIT
//!           ├─ no answer ───────────────────────────────────────────────► WAIT
//!           └─ refused, here or later ──────────────────────────────────► GIVE UP
//!
//!  WAIT ────┬─ due, or a message names the owner ───────────────────────► ATTEMPT
//!           └─ time is up ──────────────────────────────────────────────► GIVE UP, or ATTEMPT if nothing is known
//! ```
//!
//! The owner stays the same across attempts: repeating an acquire does no harm, and an acquire whose answer was lost is
//! found granted. When the call ends without the lock, the next caller of the local queue inherits the owner and its
//! place in the queue, or the owner is ended: see [`leave`](Competing::leave). The same happens if the caller is gone.
//!
//! # Invariants
//!
//! - A share has its own owner, and no local turns.
//! - A caller of several keys takes them in the order of their names. If it loses one meanwhile, it starts over with a
//!   new owner.

pub(crate) mod call;
pub(crate) mod command;
pub(crate) mod event;
mod step;

use std::mem;

use self::call::Call;
use self::command::{Command, Pause};
use self::event::{Event, Knows};
use self::step::Step;
use crate::backend::engine::handoff::{Handoff, Left, Owned, Won};
use crate::backend::wire::first_command::FirstCommand;
use crate::backend::wire::reply::Answered;
use crate::background::moment::Moment;
use crate::control::is_removed;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::Grant;
use crate::lease::schedule::is_fresh;

/// A call that competes for a lock.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Competing<O> {
    call: Call,
    /// `None` before the first attempt, and once it was given away.
    pub(super) owner: Option<O>,
    /// Whether the caller is the head of the local queue, or for a share one of its heads.
    heads_queue: bool,
    pub(super) knows: Knows,
    /// The index of the lock that blocked the last attempt; the number of locks if none did. The owner has the locks
    /// before it.
    pub(super) in_the_way: usize,
    step: Step,
}

impl<O: Owned> Competing<O> {
    #[inline]
    pub(crate) fn new(call: Call, heads_queue: bool) -> Competing<O> {
        Competing {
            call,
            owner: None,
            heads_queue,
            knows: Knows::Nothing,
            in_the_way: 0,
            step: Step::Attempts,
        }
    }

    /// Whether the caller may take this over. An owner asks for the same ttl all its life.
    pub(crate) fn fits(&self, handoff: &Handoff<O>) -> bool {
        match handoff {
            Handoff::Fresh => true,
            Handoff::Queued(owner) | Handoff::Confirmed(owner) | Handoff::Granted(owner, _) => {
                owner.outstanding().may_ask_for(self.call.ttl) || is_removed!(ttl_of_the_successor)
            }
        }
    }

    /// Takes over from the last head of the local queue its owner, if it fits, and what it `knew`.
    pub(crate) fn take_over(
        &mut self,
        handoff: Handoff<O>,
        knew: Knows,
        is_late: impl FnOnce() -> bool,
        now: impl FnOnce() -> Moment,
    ) -> Command {
        match handoff {
            Handoff::Fresh => Command::Attempt,
            Handoff::Queued(mut owner) => {
                // The grant came too late for the last head, which left.
                if owner.outstanding_mut().may_hold() {
                    self.in_the_way = self.call.locks;
                }
                self.owner = Some(owner);
                if !is_late() {
                    return Command::Attempt;
                }
                // If many callers' waits end together, each may become the head with no time left.
                self.knows = knew;
                self.time_is_up()
            }
            Handoff::Confirmed(owner) => {
                self.owner = Some(owner);
                Command::Wait(Pause::Longest)
            }
            Handoff::Granted(owner, grant) => {
                self.owner = Some(owner);
                self.in_the_way = self.call.locks;
                // If replicas are required, another attempt confirms the grant and waits for them.
                if self.call.awaits_replicas || !is_fresh(now(), grant.at, self.call.ttl) {
                    return Command::Attempt;
                }
                self.wins(grant)
            }
        }
    }

    /// Whether the next attempt asks for a place in the queue. Only a head waits in Redis, or a caller for several
    /// locks. A caller that passes the head by has no time: it makes one attempt, and takes no place in the queue.
    #[inline]
    pub(crate) fn queues(&self) -> bool {
        (self.heads_queue || self.is_of_several()) && self.call.waits
    }

    /// The first command of the next attempt. A lock that this client knows nothing about is usually free. A lock is
    /// `contended` if another owner had it when this client last asked; it then has a queue. An owner that has asked
    /// before may have the lock. The script handles both cases.
    #[inline]
    pub(crate) fn first_command(&self, is_contended: impl FnOnce() -> bool) -> FirstCommand {
        let is_first = self.knows == Knows::Nothing && self.owner.is_none();
        if is_first && self.call.may_take && !is_contended() {
            FirstCommand::Take
        } else {
            FirstCommand::Script
        }
    }

    #[inline]
    fn is_of_several(&self) -> bool {
        self.call.locks > 1
    }

    /// Whether the answer may grant only some of the locks. An attempt without a place in the queue takes all of them
    /// or none.
    fn may_have_part(&self) -> bool {
        self.is_of_several() && self.queues()
    }

    #[inline]
    pub(crate) fn owner(&self) -> Option<&O> {
        self.owner.as_ref()
    }

    /// The owner of an attempt. It is created before the first one.
    #[inline]
    pub(crate) fn owner_or_try<E>(
        &mut self,
        make: impl FnOnce() -> Result<O, E>,
    ) -> Result<&mut O, E> {
        match &mut self.owner {
            Some(owner) => Ok(owner),
            none => Ok(none.insert(make()?)),
        }
    }

    #[inline]
    pub(crate) fn heads_queue(&self) -> bool {
        self.heads_queue
    }

    /// Whether this answer shows that nobody wants the lock.
    #[inline]
    pub(crate) fn is_uncontended(&self, grant: Grant) -> bool {
        self.knows == Knows::Nothing && !grant.contended
    }

    /// Which of several locks blocked the last attempt, if one did.
    pub(crate) fn in_the_way(&self) -> Option<usize> {
        self.is_of_several().then_some(self.in_the_way)
    }

    /// Handles the outcome of the last command.
    #[inline(always)]
    pub(crate) fn on(&mut self, event: Event, now: impl FnOnce() -> Moment) -> Command {
        match event {
            Event::Granted(grant) if !self.call.awaits_replicas => self.granted(grant, now),
            // Everything that acquiring a free lock involves is above.
            event => self.on_any(event, now),
        }
    }

    #[inline(never)]
    fn on_any(&mut self, event: Event, now: impl FnOnce() -> Moment) -> Command {
        match event {
            Event::Granted(grant) => {
                self.step = Step::AwaitsReplicas(grant);
                Command::AwaitReplicas
            }
            Event::HasReplicas => match self.step {
                Step::AwaitsReplicas(grant) => self.granted(grant, now),
                _ => self.waits(),
            },
            Event::Waiting { lock, holds_later } => self.waiting(lock, holds_later),
            Event::NoOwner => {
                self.knows = Knows::Failed;
                Command::GiveUp
            }
            Event::Refused => self.refused(),
            Event::Unavailable => self.unavailable(),
            Event::Listens => Command::Wait(Pause::Poll),
            Event::GivenBack => self.given_back(),
            Event::Notified if is_removed!(confirmation_of_a_grant) => {
                let (at, token) = (now(), FencingToken::new(FencingToken::FIRST));
                let contended = true;
                let answer = Grant { contended, token };
                self.wins(Answered { at, answer })
            }
            Event::MayHaveMissed | Event::Due | Event::Notified => self.attempt(),
            Event::TimeIsUp => self.time_is_up(),
        }
    }

    fn attempt(&mut self) -> Command {
        self.step = Step::Attempts;
        Command::Attempt
    }

    #[inline]
    fn granted(&mut self, grant: Answered<Grant>, now: impl FnOnce() -> Moment) -> Command {
        if is_fresh(now(), grant.at, self.call.ttl) {
            return self.wins(grant);
        }
        self.in_the_way = self.call.locks;
        self.knows = Knows::Failed;
        Command::Wait(Pause::None)
    }

    #[inline]
    fn wins(&mut self, grant: Answered<Grant>) -> Command {
        self.step = Step::Wins(grant);
        Command::Win
    }

    /// Another owner has the lock, or one of several.
    fn waiting(&mut self, lock: usize, holds_later: bool) -> Command {
        let (queues, has_part) = (self.queues(), self.may_have_part());
        let has_lost = self.is_of_several() && (lock < self.in_the_way || holds_later);
        if let Some(owner) = &mut self.owner {
            if !has_part || lock == 0 && !has_lost {
                owner.outstanding_mut().note_not_held();
            }
            if queues && self.call.has_queue {
                owner.outstanding_mut().note_queued();
            }
        }
        self.in_the_way = lock;
        self.knows = Knows::Holder;
        self.step = Step::ChecksReplicas { has_lost };
        if self.call.awaits_replicas {
            return Command::CheckReplicas;
        }
        self.waits()
    }

    fn waits(&mut self) -> Command {
        if self.step == (Step::ChecksReplicas { has_lost: true }) {
            // It lost a lock that it had. Its place in a later queue would make it wait for locks out of order.
            self.step = Step::BeginsAnew;
            return Command::BeginAnew;
        }
        if self.queues() && !self.call.has_queue {
            self.step = Step::Listens;
            return Command::Listen;
        }
        Command::Wait(Pause::Poll)
    }

    fn refused(&mut self) -> Command {
        self.knows = Knows::Refused;
        match self.step {
            Step::AwaitsReplicas(_) => {
                self.step = Step::GivesBack;
                return Command::GiveBack;
            }
            // Unless it has one from before, it has none of the locks.
            Step::Attempts if !self.may_have_part() && self.in_the_way == 0 => {
                if let Some(owner) = &mut self.owner {
                    owner.outstanding_mut().note_not_held();
                }
            }
            _ => {}
        }
        Command::GiveUp
    }

    fn unavailable(&mut self) -> Command {
        match self.step {
            Step::AwaitsReplicas(_) => {
                self.knows = Knows::Failed;
                self.step = Step::GivesBack;
                Command::GiveBack
            }
            // The apparent holder may be about to give the lock back.
            Step::ChecksReplicas { .. } => {
                self.knows = Knows::Failed;
                self.waits()
            }
            // Unless it listens, the next poll finds the lock free.
            Step::Listens => Command::Wait(Pause::Poll),
            Step::Attempts | Step::GivesBack | Step::BeginsAnew | Step::Wins(_) => {
                self.knows = Knows::Failed;
                if is_removed!(same_owner_for_each_attempt) {
                    // A message that names a dropped owner would have it ended again.
                    mem::forget(self.owner.take());
                }
                Command::Wait(Pause::BackOff)
            }
        }
    }

    /// Returns the owner, which must be ended. The next attempt has another one.
    pub(crate) fn give_back(&mut self) -> Option<O> {
        self.in_the_way = 0;
        self.owner.take()
    }

    fn given_back(&mut self) -> Command {
        match self.step {
            Step::BeginsAnew => Command::Wait(Pause::Anew),
            _ if self.knows == Knows::Refused => Command::GiveUp,
            _ => Command::Wait(Pause::BackOff),
        }
    }

    /// A call that made no attempt makes one: the lock may be free, and if not, the answer names its holder.
    fn time_is_up(&mut self) -> Command {
        if self.knows == Knows::Nothing {
            self.attempt()
        } else {
            Command::GiveUp
        }
    }

    /// The caller has the lock.
    #[inline]
    pub(crate) fn win(&mut self) -> Won<O> {
        let Step::Wins(grant) = self.step else {
            unreachable!("it was not granted the lock");
        };
        let heads_queue = mem::take(&mut self.heads_queue);
        Won {
            owner: self.owner.take().expect("a grant has an owner"),
            grant,
            contended: grant.answer.contended || self.knows == Knows::Holder,
            heads_queue: heads_queue && !self.call.is_share,
            promotes: heads_queue && self.call.is_share,
        }
    }

    /// The caller fails once this owner has ended; `None` if the next caller inherits it, which `has_next` reports.
    pub(crate) fn give_up(&mut self, has_next: impl FnOnce() -> bool) -> Option<O> {
        if self.is_inherited() && has_next() {
            return None;
        }
        self.owner.take()
    }

    /// Whether the next caller takes the owner over. A share's owner asks for what its caller wanted, which may not
    /// suit the next caller, and a server that refuses one caller refuses the next.
    fn is_inherited(&self) -> bool {
        self.heads_queue && !self.call.is_share && self.knows != Knows::Refused
    }

    /// Whether the call leaves nothing behind, as one does that has won.
    #[inline]
    pub(crate) fn leaves_nothing(&self) -> bool {
        self.owner.is_none() && !self.heads_queue
    }

    /// The call is over, or its caller is gone.
    pub(crate) fn leave(&mut self) -> Left<O> {
        let is_inherited = self.is_inherited();
        let heads_queue = mem::take(&mut self.heads_queue);
        let handoff = match self.owner.take() {
            Some(owner) if is_inherited && owner.outstanding().may_be_stored() => {
                Handoff::Queued(owner)
            }
            ends => {
                return Left {
                    ends,
                    promotes: heads_queue.then_some(Handoff::Fresh),
                };
            }
        };
        Left {
            ends: None,
            promotes: Some(handoff),
        }
    }
}

#[cfg(test)]
mod tests;
