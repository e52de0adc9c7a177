//! Runs commands on several nodes at the same time.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::background::Background;

/// A command to one node. It notes its answer itself.
pub(super) type NodeTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Commands to several nodes, which the waiting task polls. Meant for a few, since each is polled whenever one is
/// woken.
#[derive(Default)]
pub(super) struct NodeTasks {
    tasks: Vec<(usize, NodeTask)>,
}

impl NodeTasks {
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

    pub(super) fn poll_any(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let before = self.tasks.len();
        self.tasks
            .retain_mut(|(_, task)| task.as_mut().poll(cx).is_pending());
        if self.tasks.len() < before {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }

    /// Takes all commands that have not ended, with their nodes.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (usize, NodeTask)> {
        self.tasks.drain(..)
    }

    /// Drops the commands to nodes that are not `is_needed`.
    pub(super) fn retain(&mut self, mut is_needed: impl FnMut(usize) -> bool) {
        self.tasks.retain(|(node, _)| is_needed(*node));
    }

    /// Leaves the commands to the background.
    pub(super) fn leave(&mut self, background: &Background) {
        for (_, task) in self.take() {
            background.spawn_boxed(task);
        }
    }
}
