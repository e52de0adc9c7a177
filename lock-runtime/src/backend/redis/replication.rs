//! Waits until replicas have a lock, before its caller gets it.
//!
//! WAIT blocks all commands behind it, so a node has a second connection for it. On that connection WAIT covers only
//! what the connection itself has written, not the writes of others: some servers count a stopped replica for those. So
//! each owner writes its records once more there, and one WAIT follows the writes of all callers that arrived together.
//! The next batch gathers meanwhile.

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

/// The maximum number of locks for one WAIT.
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
    /// Whether a task is sending the batches.
    is_sending: bool,
}

impl Replication {
    /// Creates the second connection of a client that waits for replicas; `None` for other clients.
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
        // No lease is confirmed on this connection, so its end puts none in doubt.
        let node = Node::new(id, locator, settings, events.clone(), Arc::new(|_, _| ()));
        Some(Arc::new(Replication {
            node,
            wait,
            waiting: Mutex::default(),
        }))
    }

    /// Waits until enough replicas have a lock. Fails if they do not have it in time, or if the owner no longer holds
    /// it. If the renewal extends nothing, the owner need not hold it.
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

    /// Sends batches until no caller waits.
    async fn send(&self) {
        loop {
            let batch: Vec<_> = {
                let mut waiting = self.waiting.lock();
                // The other callers are gone.
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
                // Fails if the caller is gone.
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
