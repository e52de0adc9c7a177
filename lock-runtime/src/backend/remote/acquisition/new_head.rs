//! Begins the acquisition of a caller that is promoted to head.

use std::sync::Arc;
use std::time::Instant;

use crate::backend::engine::competing::command::Command;
use crate::backend::remote::acquisition::Acquisition;
use crate::backend::remote::context::Context;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::local_waiter::{Acquisitions, LocalWaiter};
use crate::backend::remote::pass_head;
use crate::backend::remote::pass_head::Handoff;
use crate::background::panics::catch_panics;

impl Acquisitions for Context {
    fn make_head(
        self: Arc<Self>,
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
            ..
        } = waiter;
        let mut acquisition = Acquisition::new(&self, request, until, true);
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
}

impl Acquisition {
    /// Takes over the last head's progress and knowledge.
    fn take_over(&mut self, handoff: Handoff, last_known: Option<LastKnown>) -> Command {
        let handoff = if self.competing.fits(&handoff) {
            handoff
        } else {
            pass_head::end_unneeded(&self.context, handoff);
            Handoff::Fresh
        };
        let (until, context) = (self.until, &self.context);
        let command = self.competing.take_over(
            handoff,
            LastKnown::knows(last_known.as_ref()),
            || Instant::now() >= until,
            || context.now(),
        );
        if let Command::GiveUp = command {
            self.last_known = last_known;
        }
        command
    }
}
