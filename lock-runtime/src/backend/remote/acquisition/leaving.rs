//! What an acquisition leaves: an owner that is ended, or that the next caller takes over.

use super::Acquisition;
use crate::backend::engine::competing::command::Command;
use crate::backend::engine::competing::event::Event;
use crate::backend::engine::handoff::Left;
use crate::backend::remote::reaper;
use crate::backend::wire::Wire;
use crate::error::{LockError, LockErrorKind};

impl<W: Wire> Acquisition<W> {
    /// Gives back what the owner has, and begins with another one.
    pub(super) fn begin_anew(&mut self) -> Command {
        if let Some(owner) = self.competing.give_back() {
            drop(reaper::end(&self.context, owner));
        }
        self.on(Event::GivenBack)
    }

    /// Leaves the queue. Waits until the server has confirmed that, but no longer than one command timeout after
    /// the end of its wait; the rest goes on in the background. The error says why it gives up.
    pub(super) async fn give_up(&mut self) -> LockError {
        let error = self.error();
        let (context, lock) = (&self.context, &self.request.lock().names.lock);
        let has_next = || context.queues().peek(lock).is_some();
        if let Some(owner) = self.competing.give_up(has_next) {
            let ended = reaper::end(context, owner);
            let until = self.until + context.command_timeout;
            let _ = context.timers().timeout_at(until, ended).await;
        }
        error
    }

    fn error(&mut self) -> LockError {
        let error = match self.last_known.take() {
            Some(last_known) => last_known.into_error(self.context.now()),
            None => LockError::new(LockErrorKind::Unavailable),
        };
        let in_the_way = self.competing.in_the_way();
        match in_the_way.and_then(|number| self.request.locks.iter().nth(number)) {
            Some(lock) => error.with_key(&lock.key),
            None => error,
        }
    }
}

impl<W: Wire> Drop for Acquisition<W> {
    fn drop(&mut self) {
        if self.competing.leaves_nothing() || self.context.check_process().is_err() {
            return;
        }
        let Left { ends, promotes } = self.competing.leave();
        if let Some(owner) = ends {
            drop(reaper::end(&self.context, owner));
        }
        if let Some(handoff) = promotes {
            self.pass_head(handoff);
        }
    }
}
