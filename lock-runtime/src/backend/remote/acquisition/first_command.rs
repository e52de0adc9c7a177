//! What the next attempt begins with.

use super::Acquisition;
use crate::backend::wire::{FirstCommand, Wire};
use crate::lease::Mode;

impl<W: Wire> Acquisition<W> {
    /// A lock of which nothing is known is mostly free. One that was held a moment ago has a queue, and an owner that has
    /// asked before may have the lock: of these the script knows more.
    pub(super) fn first_command(&self) -> FirstCommand {
        let is_first = self.last_known.is_none() && self.owner.is_none();
        let may_lack_token = !self.request.fenced && !self.context.waits_for_replicas;
        let is_alone = self.request.mode == Mode::Exclusive && self.request.locks.len() == 1;
        if is_first && may_lack_token && is_alone {
            FirstCommand::Take
        } else {
            FirstCommand::Script
        }
    }
}
