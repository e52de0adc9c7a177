//! What the next attempt begins with.

use super::Acquisition;
use crate::backend::wire::{FirstCommand, Wire};
use crate::lease::Mode;

impl<W: Wire> Acquisition<W> {
    /// A lock of which nothing is known is mostly free. One that another owner had when this client last asked has a queue, and
    /// an owner that has asked before may have the lock: of these the script knows more. A caller that does not wait expects the lock to be
    /// held, and is told so by one command. A lock with a minimum hold is not handed over but expires, each time, and only the
    /// script lets the waiters in before a newcomer.
    pub(super) fn first_command(&self) -> FirstCommand {
        let request = &self.request;
        let is_first = self.last_known.is_none() && self.owner.is_none();
        let is_contended = self.context.contended.contains(&request.lock().names.lock);
        let may_lack_token = !request.fenced && !self.context.waits_for_replicas;
        let is_alone = request.mode == Mode::Exclusive && request.locks.len() == 1;
        let waits = !request.wait.is_zero();
        let is_handed_over = request.terms.hold_at_least_ms == 0;
        if is_first && !is_contended && may_lack_token && is_alone && waits && is_handed_over {
            FirstCommand::Take
        } else {
            FirstCommand::Script
        }
    }
}
