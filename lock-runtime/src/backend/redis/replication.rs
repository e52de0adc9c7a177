//! Waits until replicas have a lock, before its caller gets it.
//!
//! WAIT blocks all commands behind it, so a node has a second connection for it. There, WAIT covers what that
//! connection has written, not the writes of others: some servers count a stopped replica. So each owner writes its
//! records once more, and one WAIT follows the writes of all callers that came together. The next batch gathers
//! meanwhile.

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::oneshot;

use super::connect::Settings;
use super::locator::Locator;
use super::node::{Node, NodeError, Renewed};
use super::renewals::{WaitReplicas, write_rewrites};
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::{NodeId, Renewal, WireEvents};
use crate::background::sync::Mutex;

/// The most locks that one WAIT follows.
const BATCH: usize = 256;

/// The second connection to a node.
pub(super) struct Replication {
    node: Node,
    wait: WaitReplicas,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    callers: Vec<(Renewal, oneshot::Sender<Renewed>)>,
    /// Whether a task sends what gathers.
    is_sending: bool,
}

impl Replication {
    /// The second connection for a client that waits for replicas; `None` for one that does not.
    pub(super) fn new(
        id: NodeId,
        locator: Locator,
        settings: &Settings,
        events: &Arc<dyn WireEvents>,
    ) -> Option<Arc<Replication>> {
        let wait = settings.wait_replicas?;
        let settings = Settings {
            is_subscribed: false,
            ..settings.clone()
        };
        // Its end proves nothing: no lease is confirmed on it.
        let node = Node::new(id, locator, settings, events.clone(), Arc::new(|_, _| ()));
        Some(Arc::new(Replication {
            node,
            wait,
            waiting: Mutex::default(),
        }))
    }

    /// Waits until enough replicas have a lock. Fails if they do not in time, or if the owner no longer has it; a
    /// renewal that extends nothing need not have it.
    pub(super) async fn confirm(
        self: &Arc<Replication>,
        renewal: Renewal,
        until: Instant,
    ) -> Result<(), NodeError> {
        let is_held = renewal.extension.extends;
        let (reply, outcome) = oneshot::channel();
        let is_first = {
            let mut waiting = self.waiting.lock();
            waiting.callers.push((renewal, reply));
            !mem::replace(&mut waiting.is_sending, true)
        };
        if is_first {
            let replication = self.clone();
            let is_spawned = self.node.spawn(async move { replication.send().await });
            if !is_spawned {
                return Err(unavailable("this process was forked"));
            }
        }
        match self.node.timers().timeout_at(until, outcome).await {
            Ok(Ok(Ok(answered))) if answered.answer.is_some() || !is_held => Ok(()),
            Ok(Ok(Ok(_))) => Err(unavailable("the lock was lost before replicas had it")),
            Ok(Ok(Err(error))) => Err(error),
            Ok(Err(_)) => Err(unavailable("the wait for replicas was given up")),
            Err(_) => Err(unavailable("replicas did not acknowledge the lock in time")),
        }
    }

    /// Sends what has gathered, until nothing is left.
    async fn send(&self) {
        loop {
            let batch: Vec<_> = {
                let mut waiting = self.waiting.lock();
                // Their callers are gone.
                waiting.callers.retain(|(_, reply)| !reply.is_closed());
                let count = waiting.callers.len().min(BATCH);
                let batch: Vec<_> = waiting.callers.drain(..count).collect();
                waiting.is_sending = !batch.is_empty();
                batch
            };
            if batch.is_empty() {
                return;
            }
            let (renewals, replies): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
            let renewals: Vec<&Renewal> = renewals.iter().collect();
            let until = self.node.until();
            let outcomes = self
                .node
                .renew(&renewals, write_rewrites, Some(self.wait), until)
                .await;
            for (reply, outcome) in replies.into_iter().zip(outcomes) {
                // The caller may be gone.
                let _ = reply.send(outcome);
            }
        }
    }

    /// Closes this connection, if it is the current one.
    pub(super) fn reject(&self, on: ConnectionId, reason: &str) {
        self.node.reject(on, reason);
    }

    /// Closes the connection for good.
    pub(super) fn close(&self, reason: &str) {
        self.node.close(reason);
    }
}

fn unavailable(text: &str) -> NodeError {
    NodeError::Final(WireError::unavailable(text))
}
