//! One attempt at a lock, and what follows from its answer.
//!
//! An attempt at a free lock awaits its answer and nothing else. What else may be awaited is boxed, or it would be part of
//! every acquisition.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::time::Duration;

use super::{Acquisition, NextStep, Progress};
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::{AcquireReply, Answered, Waiting};
use crate::backend::wire::{AcquireRequest, Wire};
use crate::background::random;
use crate::control::is_removed;
use crate::lease::Request;
use crate::lease::record::Grant;
use crate::lease::schedule::is_fresh;

impl<W: Wire> Acquisition<W> {
    /// Asks once for the lock, and for a place in its queue where it may wait there.
    pub(super) async fn attempt(&mut self) -> Progress {
        let ttl = self.request.terms.first_ttl();
        let (queue, first) = (self.asks_to_queue(), self.first_command());
        if let Err(error) = self.draw_owner() {
            self.learn(LastKnown::failed(error));
            return Progress::Continue(NextStep::GiveUp);
        }
        let owner = self.owner.as_mut().expect("it was drawn");
        let request = AcquireRequest { ttl, queue, first };
        let asking = self.context.wire.acquire(owner, request);
        let rest: Pin<Box<dyn Future<Output = Progress> + Send + '_>> = match asking.await {
            Ok(Answered { at, answer }) => match answer {
                AcquireReply::Granted(answer) if self.context.waits_for_replicas => {
                    Box::pin(self.await_replicas(Answered { at, answer }))
                }
                AcquireReply::Granted(answer) => return self.granted(Answered { at, answer }),
                AcquireReply::Waiting(waiting) => Box::pin(self.is_waiting(waiting)),
            },
            Err(error) => return Progress::Continue(self.failed(error)),
        };
        rest.await
    }

    /// Only a head waits in Redis, or a caller for several locks. A caller beside a head has no time: one attempt, and no
    /// place in the queue.
    fn asks_to_queue(&self) -> bool {
        (self.heads_queue || self.is_of_several()) && !self.request.wait.is_zero()
    }

    fn is_of_several(&self) -> bool {
        self.request.locks.len() > 1
    }

    /// Whether the answer may be a part of the locks. An attempt without a place in the queue takes all of them or none.
    fn may_have_part(&self) -> bool {
        self.is_of_several() && self.asks_to_queue()
    }

    /// An owner before the first command.
    fn draw_owner(&mut self) -> Result<(), WireError> {
        if self.owner.is_none() {
            let Request {
                label, locks, mode, ..
            } = &self.request;
            let owner = self.context.new_owner(label, locks.names(), *mode);
            let owner = owner.map_err(|error| WireError::unavailable(error.to_string()));
            self.owner = Some(owner?);
        }
        Ok(())
    }

    fn granted(&mut self, grant: Answered<Grant>) -> Progress {
        if self.last_known.is_none() && !grant.answer.contended {
            self.context
                .contended
                .remove(&self.request.lock().names.lock);
        }
        if is_fresh(self.context.now(), grant.at, self.request.terms.first_ttl()) {
            return Progress::Break(self.acquired(grant));
        }
        if self.is_of_several() {
            self.in_the_way = self.request.locks.len();
        }
        let late = "the answer took longer than the lease that it granted";
        self.learn(LastKnown::failed(WireError::unavailable(late)));
        Progress::Continue(NextStep::Wait(Duration::ZERO))
    }

    /// The lock is granted once enough replicas have it.
    async fn await_replicas(&mut self, grant: Answered<Grant>) -> Progress {
        let owner = self.owner.as_ref().expect("it was granted the lock");
        let ttl = self.request.terms.first_ttl();
        match self.context.wire.replicated(owner, ttl).await {
            Ok(()) => self.granted(grant),
            Err(error) => Progress::Continue(self.give_back(error).await),
        }
    }

    /// Somebody else has the lock, or one of several.
    async fn is_waiting(&mut self, waiting: Waiting) -> Progress {
        let (queue, has_part) = (self.asks_to_queue(), self.may_have_part());
        self.context
            .contended
            .insert(&self.request.lock().names.lock);
        self.failures = 0;
        let has_lost = waiting.lock < self.in_the_way || waiting.holds_later;
        let owner = self.owner.as_mut().expect("it has asked");
        if !has_part || waiting.lock == 0 && !has_lost {
            owner.outstanding.note_not_held();
        }
        if queue && W::HAS_QUEUE {
            owner.outstanding.note_queued();
        }
        let callers = self.context.unsettled.number();
        let mut pause = self.polls.after(&waiting, callers, random::jitter());
        if waiting.lock > 0 {
            // A poll extends the leases of the locks that the owner has.
            pause = pause.min(self.request.terms.first_ttl() / 3);
        }
        self.in_the_way = waiting.lock;
        let has_replicas = if self.context.waits_for_replicas {
            self.context.wire.has_replicas(owner).await
        } else {
            Ok(())
        };
        let (last_known, is_refused) = match has_replicas {
            Ok(()) => {
                let (holder, now) = (waiting.holder, self.context.now());
                let known = LastKnown::held_elsewhere(holder, waiting.remaining, now);
                (known, false)
            }
            // Nobody can have the lock now. Who seems to have it may be about to give it back.
            Err(error) => {
                let is_refused = matches!(error, WireError::Refused(_));
                (LastKnown::failed(error), is_refused)
            }
        };
        self.learn(last_known);
        Progress::Continue(if is_refused {
            NextStep::GiveUp
        } else if has_lost {
            self.begin_anew()
        } else if queue && !W::HAS_QUEUE {
            self.listen(pause).await
        } else {
            NextStep::Wait(pause)
        })
    }

    fn failed(&mut self, error: WireError) -> NextStep {
        let is_refused = matches!(error, WireError::Refused(_));
        if is_refused && !self.may_have_part() {
            let owner = self.owner.as_mut().expect("it has asked");
            owner.outstanding.note_not_held();
        }
        self.learn(LastKnown::failed(error));
        if is_refused {
            return NextStep::GiveUp;
        }
        self.failures += 1;
        if is_removed!(same_owner_for_each_attempt) {
            let Request {
                label, locks, mode, ..
            } = &self.request;
            let another = self.context.new_owner(label, locks.names(), *mode);
            // Dropped, the owner of this attempt would be ended again when a message names it.
            mem::forget(mem::replace(&mut self.owner, another.ok()));
        }
        NextStep::Wait(backoff(self.failures, random::jitter()))
    }
}
