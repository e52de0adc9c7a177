//! The next caller of a local queue becomes its head.

use std::sync::Arc;

use super::{Acquisition, Progress};
use crate::backend::remote::context::Context;
use crate::backend::remote::handoff::Handoff;
use crate::backend::remote::last_known::LastKnown;
use crate::backend::remote::local_waiter::{Acquisitions, LocalWaiter};
use crate::backend::wire::Wire;
use crate::background::panics::catch_panics;

impl<W: Wire> Acquisitions for Context<W> {
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
            Progress::Break(acquired) => {
                let undelivered = acquisition.register_lease(acquired);
                catch_panics(|| drop(reply.send(Ok(undelivered))));
            }
            Progress::Continue(step) => {
                task.assign(acquisition.into_task(step, reply, counted));
            }
        }
    }
}
