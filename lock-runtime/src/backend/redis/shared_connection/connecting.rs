//! Attempts to connect, in the background.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tokio::sync::watch;
use tokio::time::{sleep_until, timeout};

use super::{ConnectResult, ConnectionState, Pause, Shared};
use crate::backend::redis::connect::{AttemptProgress, SetupError, channel_of};
use crate::backend::redis::connection::Connection;
use crate::backend::redis::encoder::{self, Argument};
use crate::backend::redis::error_reply::describe_broken;
use crate::backend::redis::shared_connection::PushEvent;
use crate::backend::redis::transport::{OnTransportEvent, TransportEvent};
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::background::random;

impl Shared {
    /// Makes one attempt. The outcome is stored as the state before the waiting callers get it.
    pub(super) async fn connect(
        self: Arc<Shared>,
        not_before: Option<Instant>,
        outcome: watch::Sender<Option<ConnectResult>>,
    ) {
        if let Some(time) = not_before {
            sleep_until(time.into()).await;
        }
        let (began, progress) = (Instant::now(), AttemptProgress::default());
        let attempt = self.attempt(began, &progress).await;
        let attempt: ConnectResult = if self.is_closed.load(Ordering::Relaxed) {
            Err(WireError::unavailable(
                "the connection is not needed any more",
            ))
        } else {
            attempt.map(Arc::new).map_err(|error| {
                self.report_failed(&progress, &error);
                error.into()
            })
        };
        let state = match &attempt {
            Ok(connection) => ConnectionState::Up(connection.clone()),
            Err(error) => {
                let pause = if progress.is_reached.into_inner() {
                    self.next_attempt(false, began)
                } else {
                    let jitter = random::jitter();
                    Some(self.pause.lock().after_unreached(began, jitter))
                };
                ConnectionState::Down(pause.map(|until| Pause {
                    until,
                    cause: error.clone(),
                }))
            }
        };
        {
            let mut current = self.state.lock();
            if self.is_closed.load(Ordering::Relaxed) {
                // Closed meanwhile: the connection is dropped with the outcome, and never reported.
                drop(current);
                outcome.send_replace(Some(Err(WireError::unavailable(
                    "the connection is not needed any more",
                ))));
                return;
            }
            *current = state;
        }
        if let Ok(connection) = &attempt {
            self.watch(connection);
        }
        let connected = attempt.as_ref().ok().cloned();
        outcome.send_replace(Some(attempt));
        if let Some(connection) = connected {
            self.push(PushEvent::Connected(connection.id));
            self.subscribe_to_missing(&connection);
            // Last, since a subscriber may block.
            self.report_connected(&connection);
        }
    }

    /// Subscribes to the ids that came into use while the connection was being made, because connections to other nodes
    /// were made at the same time.
    fn subscribe_to_missing(&self, connection: &Connection) {
        if !self.settings.is_subscribed {
            return;
        }
        for id in self.events.missing_ids(&connection.subscribed) {
            let channel = channel_of(id);
            let command = ["SUBSCRIBE", &channel].map(Argument::Text);
            // Later commands on this connection follow it. If it fails, so does the connection.
            drop(
                connection
                    .transport
                    .send(&|output| encoder::write(output, &command)),
            );
        }
    }

    async fn attempt(
        self: &Arc<Shared>,
        began: Instant,
        progress: &AttemptProgress,
    ) -> Result<Connection, SetupError> {
        let connecting = async {
            // Called once the socket is open, to include the ids of owners that arrive until then.
            let client_ids = || {
                let ids = self.events.client_ids(self.node);
                ids.map_err(|error| WireError::unavailable(error.to_string()))
            };
            let on_event = |id| self.on_event(id);
            self.settings
                .connect(&self.locator, began, progress, &client_ids, &on_event)
                .await
        };
        let connected = timeout(self.settings.command_timeout, connecting).await;
        connected.unwrap_or_else(|_| Err(self.settings.describe_timeout(&self.locator).into()))
    }

    fn on_event(self: &Arc<Self>, id: ConnectionId) -> OnTransportEvent {
        // Messages are handled without the shared state, which may already be dropped.
        let (node, on_push) = (self.node, self.on_push.clone());
        // Weak, since the state owns the connection, which must not keep it alive.
        let shared = Arc::downgrade(self);
        Box::new(move |event| match event {
            TransportEvent::Message { channel, payload } => {
                on_push(node, PushEvent::Message { channel, payload });
            }
            TransportEvent::Broken(error) => {
                let reason = describe_broken(error);
                if let Some(shared) = shared.upgrade()
                    && let Some(connection) = shared.forget(id, &reason)
                {
                    shared.push(PushEvent::Disconnected(id));
                    shared.report_lost(&connection, reason);
                }
            }
        })
    }
}
