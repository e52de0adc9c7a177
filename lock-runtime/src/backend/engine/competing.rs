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
//! The owner stays the same across attempts, so that an acquire can be repeated, and a retry finds out whether an
//! acquire with a lost answer was granted. When the call ends without the lock, or its caller is gone, the next caller
//! of the local queue inherits the owner and its place in the queue, or the owner is ended: see
//! [`leave`](Competing::leave).
//!
//! # Invariants
//!
//! - A share has its own owner, and no local turns.
//! - A caller of several keys takes them in the order of their names. If it loses one before it has all of them, it
//!   starts over with a new owner.

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
    /// `None` before the first attempt, and after the owner was given away.
    pub(super) owner: Option<O>,
    /// Whether the caller is the head of the local queue, or one of its heads if it wants a share.
    heads_queue: bool,
    pub(super) knows: Knows,
    /// The index of the lock that blocked the last attempt; the number of locks if none did. The owner has all locks
    /// with a lower index.
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

    /// Returns whether the caller may take this over. An owner asks for the same ttl all its life.
    pub(crate) fn fits(&self, handoff: &Handoff<O>) -> bool {
        match handoff {
            Handoff::Fresh => true,
            Handoff::Queued(owner) | Handoff::Confirmed(owner) | Handoff::Granted(owner, _) => {
                owner.outstanding().may_ask_for(self.call.ttl) || is_removed!(ttl_of_the_successor)
            }
        }
    }

    /// Takes over the owner of the last head of the local queue, and the knowledge of that head (`knew`).
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
                // The last head left, because its grant came too late.
                if owner.outstanding_mut().may_hold() {
                    self.in_the_way = self.call.locks;
                }
                self.owner = Some(owner);
                if !is_late() {
                    return Command::Attempt;
                }
                // When many waits end at the same time, each of these callers may become the head with no time left.
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
                // If replicas are required, a second attempt confirms the grant and waits for them.
                if self.call.awaits_replicas || !is_fresh(now(), grant.at, self.call.ttl) {
                    return Command::Attempt;
                }
                self.wins(grant)
            }
        }
    }

    /// Returns whether the next attempt asks for a place in the queue. Only a head waits in Redis, or a caller for
    /// several locks. A caller outside the local queue has no time: it makes one attempt, and takes no place.
    #[inline]
    pub(crate) fn queues(&self) -> bool {
        (self.heads_queue || self.is_of_several()) && self.call.waits
    }

    /// Returns the first command of the next attempt. If this client knows nothing about the lock, the lock is usually
    /// free, and a plain command takes it. The script handles the other two cases: another owner had the lock when this
    /// client last asked (`contended`), so the lock may have a queue; or this owner has asked before, and may already
    /// have the lock.
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

    /// Returns whether an answer may grant only some of the locks. An attempt without a place in the queue takes all of
    /// them or none.
    fn may_have_part(&self) -> bool {
        self.is_of_several() && self.queues()
    }

    #[inline]
    pub(crate) fn owner(&self) -> Option<&O> {
        self.owner.as_ref()
    }

    /// Returns the owner of the attempts, which the first attempt creates.
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

    /// Returns whether this grant shows that nobody else wants the lock.
    #[inline]
    pub(crate) fn is_uncontended(&self, grant: Grant) -> bool {
        self.knows == Knows::Nothing && !grant.contended
    }

    /// Returns the index of the lock that blocked the last attempt, if the call is for several.
    pub(crate) fn in_the_way(&self) -> Option<usize> {
        self.is_of_several().then_some(self.in_the_way)
    }

    /// Handles the outcome of the last command.
    #[inline(always)]
    pub(crate) fn on(&mut self, event: Event, now: impl FnOnce() -> Moment) -> Command {
        match event {
            Event::Granted(grant) if !self.call.awaits_replicas => self.granted(grant, now),
            // The code above is all that a free lock takes.
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

    /// Another owner has the lock, or one of the locks.
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
            // The owner lost a lock that it had. It must not queue for a later one, or it would wait for locks out of
            // order.
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
            // The owner has none of the locks, unless an earlier attempt took one.
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
            // Without the subscription, the next poll finds the lock free.
            Step::Listens => Command::Wait(Pause::Poll),
            Step::Attempts | Step::GivesBack | Step::BeginsAnew | Step::Wins(_) => {
                self.knows = Knows::Failed;
                if is_removed!(same_owner_for_each_attempt) {
                    // Forgotten, not dropped: the client ends a dropped owner again when a message names it.
                    mem::forget(self.owner.take());
                }
                Command::Wait(Pause::BackOff)
            }
        }
    }

    /// Returns the owner, which must be ended. The next attempt creates another one.
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

    /// A call that has not attempted yet makes one attempt: the lock may be free, and if not, the answer names its
    /// holder.
    fn time_is_up(&mut self) -> Command {
        if self.knows == Knows::Nothing {
            self.attempt()
        } else {
            Command::GiveUp
        }
    }

    /// Gives the lock to the caller.
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

    /// Returns the owner that must be ended before the caller fails; `None` if the next caller inherits it. `has_next`
    /// reports whether there is one.
    pub(crate) fn give_up(&mut self, has_next: impl FnOnce() -> bool) -> Option<O> {
        if self.is_inherited() && has_next() {
            return None;
        }
        self.owner.take()
    }

    /// Returns whether the next caller inherits the owner. A share's owner asks for its own caller's share, and the
    /// next caller may want another one. And a server that refuses one caller refuses the next.
    fn is_inherited(&self) -> bool {
        self.heads_queue && !self.call.is_share && self.knows != Knows::Refused
    }

    /// Returns whether the call leaves nothing behind, for example because it has won.
    #[inline]
    pub(crate) fn leaves_nothing(&self) -> bool {
        self.owner.is_none() && !self.heads_queue
    }

    /// Ends the call, because it is over or its caller is gone.
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
