//! An acquisition gives back what it has, or gives up.

use std::time::Instant;

use super::{Acquisition, NextStep};
use crate::backend::remote::handoff::Handoff;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::pass_head;
use crate::backend::remote::poll_interval::backoff;
use crate::backend::remote::reaper;
use crate::backend::wire::Wire;
use crate::backend::wire::error::WireError;
use crate::background::random;
use crate::error::{LockError, LockErrorKind};

impl<W: Wire> Acquisition<W> {
    /// Gives back a lock that too few replicas have, and waits until that is confirmed.
    pub(super) async fn give_back(&mut self, error: WireError) -> NextStep {
        let is_refused = matches!(error, WireError::Refused(_));
        self.learn(LastKnown::failed(error));
        self.failures += 1;
        if let Some(owner) = self.owner.take() {
            let ended = reaper::end(&self.context, owner);
            let until = Instant::now() + self.context.command_timeout;
            let _ = self.context.timers().timeout_at(until, ended).await;
        }
        self.in_the_way = 0;
        match is_refused {
            true => NextStep::GiveUp,
            false => NextStep::Wait(backoff(self.failures, random::jitter())),
        }
    }

    /// Leaves the queue. Waits until the server has confirmed that, but no longer than one command timeout after
    /// the end of its wait; the rest goes on in the background. The error says why it gives up.
    pub(super) async fn give_up(&mut self) -> LockError {
        let error = match self.last_known.take() {
            Some(last_known) => last_known.into_error(self.context.now()),
            None => LockError::new(LockErrorKind::Unavailable),
        };
        let error = match self.request.locks.iter().nth(self.in_the_way) {
            Some(lock) if self.request.locks.len() > 1 => error.with_key(&lock.key),
            _ => error,
        };
        let lock = &self.request.lock().names.lock;
        let is_inherited = self.heads_queue
            && self.request.mode.share().is_none()
            && error.kind() != LockErrorKind::Rejected
            && self.context.queues().peek(lock).is_some();
        if !is_inherited && let Some(owner) = self.owner.take() {
            let ended = reaper::end(&self.context, owner);
            let until = self.until + self.context.command_timeout;
            let _ = self.context.timers().timeout_at(until, ended).await;
        }
        error
    }
}

impl<W: Wire> Drop for Acquisition<W> {
    fn drop(&mut self) {
        if !self.heads_queue && self.owner.is_none() || self.context.check_process().is_err() {
            return;
        }
        let owner = self.owner.take();
        let handoff = owner
            .filter(|owner| owner.outstanding.may_be_stored())
            .map_or(Handoff::Fresh, Handoff::Queued);
        // An owner is for the share that it asked for, which the next caller may not want.
        let is_inherited = self.heads_queue && self.request.mode.share().is_none();
        let (inherited, unneeded) = if is_inherited {
            (handoff, Handoff::Fresh)
        } else {
            (Handoff::Fresh, handoff)
        };
        pass_head::end_unneeded(&self.context, unneeded);
        if self.heads_queue {
            self.pass_head(inherited);
        }
    }
}
