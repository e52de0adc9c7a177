//! One attempt at a lock, and what its answer tells of it.

use super::Acquisition;
use crate::backend::engine::competing::command::Command;
use crate::backend::engine::competing::event::Event;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::{AcquireReply, Answered, Waiting};
use crate::backend::wire::{AcquireRequest, Wire};
use crate::background::random;
use crate::lease::Request;
use crate::lease::record::Grant;

impl<W: Wire> Acquisition<W> {
    /// Asks once for the lock, and for a place in its queue where it may wait there.
    #[inline]
    pub(super) async fn attempt(&mut self) -> Command {
        let (context, request) = (&self.context, &self.request);
        let lock = &request.lock().names.lock;
        let asks = AcquireRequest {
            ttl: request.terms.first_ttl(),
            queue: self.competing.queues(),
            first: (self.competing).first_command(|| context.contended.contains(lock)),
        };
        let owner = self.competing.owner_or_try(|| {
            let Request {
                label, locks, mode, ..
            } = request;
            context.new_owner(label, locks.names(), *mode)
        });
        let owner = match owner {
            Ok(owner) => owner,
            Err(error) => {
                let error = WireError::unavailable(error.to_string());
                self.learn(LastKnown::failed(error));
                return self.on(Event::NoOwner);
            }
        };
        match context.wire.acquire(owner, asks).await {
            Ok(Answered { at, answer }) => match answer {
                AcquireReply::Granted(answer) => self.granted(Answered { at, answer }),
                AcquireReply::Waiting(waiting) => self.waits(waiting),
            },
            Err(error) => self.failed(error),
        }
    }

    #[inline]
    fn granted(&mut self, grant: Answered<Grant>) -> Command {
        if self.competing.is_uncontended(grant.answer) {
            let lock = &self.request.lock().names.lock;
            self.context.contended.remove(lock);
        }
        self.granted_by(Event::Granted(grant))
    }

    #[inline]
    pub(super) fn granted_by(&mut self, event: Event) -> Command {
        let command = self.on(event);
        if let Command::Wait(_) = command {
            let late = "the answer took longer than the lease that it granted";
            self.learn(LastKnown::failed(WireError::unavailable(late)));
        }
        command
    }

    /// Somebody else has the lock, or one of several.
    fn waits(&mut self, waiting: Waiting) -> Command {
        let context = &self.context;
        context.contended.insert(&self.request.lock().names.lock);
        self.failures = 0;
        let callers = context.unsettled.number();
        self.poll = self.polls.after(&waiting, callers, random::jitter());
        if waiting.lock > 0 {
            // A poll extends the leases of the locks that the owner has.
            self.poll = self.poll.min(self.request.terms.first_ttl() / 3);
        }
        let Waiting {
            lock,
            holds_later,
            holder,
            remaining,
            ..
        } = waiting;
        let known = LastKnown::held_elsewhere(holder, remaining, context.now());
        let command = self.on(Event::Waiting { lock, holds_later });
        if let Command::CheckReplicas = command {
            self.last_known = Some(known);
        } else {
            self.learn(known);
        }
        command
    }

    pub(super) fn failed(&mut self, error: WireError) -> Command {
        let event = match error {
            WireError::Refused(_) => Event::Refused,
            WireError::Unavailable(_) => Event::Unavailable,
        };
        self.learn(LastKnown::failed(error));
        self.on(event)
    }
}
