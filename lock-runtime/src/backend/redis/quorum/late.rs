//! Commands that no caller waits for any longer.

use std::mem;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use super::node_tasks::{NodeTask, NodeTasks};
use crate::background::Background;
use crate::background::sync::Mutex;
use crate::lease::owner_id::OwnerId;

/// How long answers may wait before the background polls for them.
const DELAY: Duration = Duration::from_millis(5);

/// Commands to nodes whose caller has continued with a majority.
///
/// The other answers arrive a moment later. Waking the background for each of them would cost a caller more than a
/// command. So the background collects the answers of a few milliseconds, unless their owner is ended before.
#[derive(Default)]
pub(super) struct LateAnswers(Mutex<Late>);

#[derive(Default)]
struct Late {
    tasks: Vec<(OwnerId, usize, NodeTask)>,
    /// Whether the background is scheduled to poll.
    is_scheduled: bool,
}

impl LateAnswers {
    /// Leaves commands of an owner to the background.
    pub(super) fn leave(
        self: &Arc<Self>,
        background: &Background,
        owner_id: OwnerId,
        in_flight: &mut NodeTasks,
    ) {
        if in_flight.is_empty() || background.check_process().is_err() {
            return;
        }
        let is_scheduled = {
            let mut late = self.0.lock();
            let tasks = in_flight.take().map(|(node, task)| (owner_id, node, task));
            late.tasks.extend(tasks);
            mem::replace(&mut late.is_scheduled, true)
        };
        if !is_scheduled {
            let (late, own) = (self.clone(), background.clone());
            background.spawn(async move {
                own.sleep(DELAY).await;
                for task in late.take_all() {
                    own.spawn_boxed(task);
                }
            });
        }
    }

    /// Notes the answers to an owner's commands that have arrived by now.
    pub(super) fn look_at(self: &Arc<Self>, background: &Background, owner_id: OwnerId) {
        let mut own = NodeTasks::default();
        {
            let tasks = &mut self.0.lock().tasks;
            for position in (0..tasks.len()).rev() {
                if tasks[position].0 == owner_id {
                    let (_, node, task) = tasks.swap_remove(position);
                    own.push(node, task);
                }
            }
        }
        // The background polls the others with its own waker.
        let _ = own.poll_any(&mut Context::from_waker(Waker::noop()));
        self.leave(background, owner_id, &mut own);
    }

    fn take_all(&self) -> Vec<NodeTask> {
        let mut late = self.0.lock();
        late.is_scheduled = false;
        let tasks = late.tasks.drain(..);
        tasks.map(|(_, _, task)| task).collect()
    }
}
