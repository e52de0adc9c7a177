//! Commands to several nodes that are under way at the same time.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::background::Background;

/// A command to one node, which notes its answer itself.
pub(super) type NodeTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Commands to several nodes, polled by who waits for them. For a few: each is polled whenever one is woken.
#[derive(Default)]
pub(super) struct InFlight {
    tasks: Vec<(usize, NodeTask)>,
}

impl InFlight {
    pub(super) fn push(&mut self, node: usize, task: NodeTask) {
        self.tasks.push((node, task));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Completes when at least one command has ended; never if there is none.
    pub(super) async fn any(&mut self) {
        poll_fn(|cx| self.poll_any(cx)).await;
    }

    fn poll_any(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let before = self.tasks.len();
        self.tasks
            .retain_mut(|(_, task)| task.as_mut().poll(cx).is_pending());
        match self.tasks.len() < before {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Leaves the commands for which `is_needed` to the background, and drops the others.
    pub(super) fn leave(
        &mut self,
        background: &Background,
        mut is_needed: impl FnMut(usize) -> bool,
    ) {
        for (node, task) in self.tasks.drain(..) {
            if is_needed(node) {
                background.spawn(task);
            }
        }
    }
}
