//! The acquisition of a caller that is promoted to head.

use std::sync::Arc;
use std::time::Instant;

use crate::backend::engine::competing::command::Command;
use crate::backend::remote::acquisition::Acquisition;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::promotion::{Handoff, LocalWaiter};
use crate::backend::remote::{Remote, promotion};
use crate::background::panics::catch_panics;

impl Acquisition {
    /// Begins with the last head's progress, and what it knew.
    pub(crate) fn begin_promoted(
        remote: &Arc<Remote>,
        waiter: LocalWaiter,
        handoff: Handoff,
        last_known: Option<LastKnown>,
    ) {
        let LocalWaiter {
            request,
            until,
            reply,
            task,
            counted,
        } = waiter;
        let mut acquisition = Acquisition::new(remote, request, until, true);
        match acquisition.take_over(handoff, last_known) {
            Command::Win => {
                let undelivered = acquisition.win();
                catch_panics(|| drop(reply.send(Ok(undelivered))));
            }
            command => {
                task.assign(acquisition.into_task(command, reply, counted));
            }
        }
    }

    /// Takes over the last head's progress and knowledge.
    fn take_over(&mut self, handoff: Handoff, last_known: Option<LastKnown>) -> Command {
        let handoff = if self.competing.fits(&handoff) {
            handoff
        } else {
            promotion::end_unneeded(&self.remote, handoff);
            Handoff::Fresh
        };
        let (until, remote) = (self.until, &self.remote);
        let command = self.competing.take_over(
            handoff,
            LastKnown::knows(last_known.as_ref()),
            || Instant::now() >= until,
            || remote.now(),
        );
        if let Command::GiveUp = command {
            self.last_known = last_known;
        }
        command
    }
}
