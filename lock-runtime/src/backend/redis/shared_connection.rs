//! The connection to a node, which is replaced when it fails.
//!
//! The background connects for the first command, so that an idle client sends nothing. The connection is subscribed to
//! the client's channels before the first command is sent. The client library's own reconnection is not used: it
//! neither notices a server that has stopped answering nor limits the wait of a call.

mod connecting;
mod reports;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{mem, slice};

use redis::Value;
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::watch;

use super::connect::Settings;
use super::connection::{Connection, SendError};
use super::error_reply::describe_broken;
use super::locator::Locator;
use super::outage::Outage;
use super::reconnect_pause::ReconnectPause;
use super::transport::{ConnectionLost, WriteCommands, unless_forked};
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::{NodeId, WireEvents};
use crate::background::random;
use crate::background::sync::Mutex;
use crate::background::timers::{Elapsed, Timers};

/// The connection to one node, for all commands of a client.
pub(super) struct SharedConnection {
    shared: Arc<Shared>,
}

struct Shared {
    node: NodeId,
    locator: Locator,
    settings: Settings,
    events: Arc<dyn WireEvents>,
    on_push: OnPush,
    state: Mutex<ConnectionState>,
    /// Whether the owner is gone. A connection that is still being made is then closed at once.
    is_closed: AtomicBool,
    pause: Mutex<ReconnectPause>,
    outage: Mutex<Outage>,
}

enum ConnectionState {
    /// Not connected. The next attempt begins after the pause, if there is one.
    Down(Option<Pause>),
    Connecting(Attempt),
    Up(Arc<Connection>),
}

/// An attempt to connect. It begins after the pause, if there is one.
#[derive(Clone)]
struct Attempt {
    outcome: watch::Receiver<Option<ConnectResult>>,
    pause: Option<Pause>,
}

/// The time until the next attempt to connect.
#[derive(Clone)]
struct Pause {
    until: Instant,
    /// Why the last attempt failed, or why the last connection ended.
    cause: WireError,
}

type ConnectResult = Result<Arc<Connection>, WireError>;

impl SharedConnection {
    pub(super) fn new(
        node: NodeId,
        locator: Locator,
        settings: Settings,
        events: Arc<dyn WireEvents>,
        on_push: OnPush,
    ) -> SharedConnection {
        let shared = Shared {
            node,
            locator,
            settings,
            events,
            on_push,
            state: Mutex::new(ConnectionState::NEVER_UP),
            is_closed: AtomicBool::new(false),
            pause: Mutex::default(),
            outage: Mutex::default(),
        };
        SharedConnection {
            shared: Arc::new(shared),
        }
    }

    /// Returns the deadline of a command that begins now.
    pub(super) fn until(&self) -> Instant {
        Instant::now() + self.shared.settings.command_timeout
    }

    /// Returns the connection, and makes one if there is none. Concurrent callers share one attempt.
    pub(super) async fn get(&self, until: Instant) -> ConnectResult {
        let mut attempt = {
            let mut state = self.shared.state.lock();
            match &*state {
                ConnectionState::Up(connection) => return Ok(connection.clone()),
                ConnectionState::Connecting(attempt) => attempt.outcome.clone(),
                ConnectionState::Down(pause) => {
                    if let Some(pause) = pause
                        && is_late(pause.until, until)
                    {
                        return Err(pause.cause.clone());
                    }
                    let not_before = pause.as_ref().map(|pause| pause.until);
                    let (outcome, attempt) = watch::channel(None);
                    let connecting = self.shared.clone().connect(not_before, outcome);
                    if self.shared.settings.background.spawn(connecting).is_none() {
                        return Err(WireError::unavailable("this process was forked"));
                    }
                    *state = ConnectionState::Connecting(Attempt {
                        outcome: attempt.clone(),
                        pause: pause.clone(),
                    });
                    attempt
                }
            }
        };
        let connected = attempt.wait_for(Option::is_some);
        let outcome = self.timers().timeout_at(until, connected).await;
        match outcome {
            Ok(Ok(outcome)) => outcome.clone().expect("an attempt ends with an outcome"),
            Ok(Err(_)) => {
                // The attempt's task was dropped.
                self.shared.reset_if_connecting();
                Err(WireError::unavailable(
                    "the attempt to connect was given up",
                ))
            }
            Err(_) => Err(self.shared.settings.describe_timeout(&self.shared.locator)),
        }
    }

    /// Sends the command that `write` appends, and waits for its answer.
    pub(super) async fn send(
        &self,
        connection: &Connection,
        write: WriteCommands<'_>,
        until: Instant,
    ) -> Result<Value, SendError> {
        let answer = connection.transport.send(write);
        let answer = self.timers().timeout_at(until, answer).await;
        let answer = self.note_answer(connection, answer)?;
        connection.note_use(slice::from_ref(&answer));
        Ok(answer)
    }

    /// Sends the `count` commands that `write` appends, all at once. The answers may be the server's errors.
    pub(super) async fn send_all(
        &self,
        connection: &Connection,
        count: usize,
        write: WriteCommands<'_>,
        until: Instant,
    ) -> Result<Vec<Value>, SendError> {
        let answers = connection.transport.send_all(count, write);
        let answers = self.timers().timeout_at(until, answers).await;
        let answers = self.note_answer(connection, answers)?;
        connection.note_use(&answers);
        Ok(answers)
    }

    fn note_answer<T>(
        &self,
        connection: &Connection,
        answer: Result<Result<Result<T, ConnectionLost>, RecvError>, Elapsed>,
    ) -> Result<T, SendError> {
        match answer.map(unless_forked) {
            Ok(Ok(answer)) => {
                connection.note_answer();
                Ok(answer)
            }
            Ok(Err(ConnectionLost { unsent, error })) => {
                self.drop_connection(connection, &describe_broken(&error));
                Err(if unsent {
                    SendError::Unsent
                } else {
                    SendError::Broken(error)
                })
            }
            Err(_) => {
                if connection.is_dead_after_timeout(self.shared.settings.command_timeout) {
                    self.drop_connection(connection, "it does not answer");
                }
                Err(SendError::TimedOut)
            }
        }
    }

    pub(super) fn current(&self) -> Option<Arc<Connection>> {
        match &*self.shared.state.lock() {
            ConnectionState::Up(connection) => Some(connection.clone()),
            ConnectionState::Down(_) | ConnectionState::Connecting(_) => None,
        }
    }

    /// Returns why there is no connection, if the next attempt is delayed.
    pub(super) fn put_off(&self) -> Option<WireError> {
        let state = self.shared.state.lock();
        let pause = match &*state {
            ConnectionState::Down(pause) => pause.as_ref()?,
            ConnectionState::Connecting(attempt) => attempt.pause.as_ref()?,
            ConnectionState::Up(_) => return None,
        };
        (Instant::now() < pause.until).then(|| pause.cause.clone())
    }

    /// Runs a task in the background. Returns `false` in a forked child.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> bool {
        let background = &self.shared.settings.background;
        background.spawn(task).is_some()
    }

    /// Returns timers for commands whose callers' runtimes may have none.
    pub(super) fn timers(&self) -> &Timers {
        self.shared.settings.background.timers()
    }

    pub(super) fn command_timeout(&self) -> Duration {
        self.shared.settings.command_timeout
    }

    /// Closes the connection for good, even if it is still being made.
    pub(super) fn close(&self, reason: &str) {
        let last = {
            let mut state = self.shared.state.lock();
            self.shared.is_closed.store(true, Ordering::Relaxed);
            mem::replace(&mut *state, ConnectionState::NEVER_UP)
        };
        // Without the mutex, since closing wakes the callers that wait for answers.
        if let ConnectionState::Up(connection) = last {
            connection.transport.close(reason);
            self.shared.push(PushEvent::Disconnected(connection.id));
            self.shared.report_closed(&connection);
        }
    }

    /// Closes `connection`, whose server refuses commands because of its role. The pauses between connections grow as
    /// long as that lasts, whatever else the server has answered.
    pub(super) fn reject(&self, connection: &Connection, reason: &str) {
        connection.note_useless();
        self.shared.drop_connection(connection, reason);
    }

    /// Closes `connection`. The next command makes another one.
    pub(super) fn drop_connection(&self, connection: &Connection, reason: &str) {
        self.shared.drop_connection(connection, reason);
    }
}

impl Drop for SharedConnection {
    fn drop(&mut self) {
        // In a forked child the mutex may be locked for ever.
        if self.shared.settings.background.check_process().is_err() {
            return;
        }
        self.close("its client is gone");
    }
}

impl ConnectionState {
    const NEVER_UP: ConnectionState = ConnectionState::Down(None);
}

/// Returns whether an attempt that begins at `time` would have less than half of the time until `until`.
fn is_late(time: Instant, until: Instant) -> bool {
    let now = Instant::now();
    time.saturating_duration_since(now) > until.saturating_duration_since(now) / 2
}

impl Shared {
    fn push(&self, event: PushEvent<'_>) {
        (self.on_push)(self.node, event);
    }

    fn drop_connection(self: &Arc<Shared>, connection: &Connection, reason: &str) {
        if self.forget(connection.id, reason).is_some() {
            connection.transport.close(reason);
            self.push(PushEvent::Disconnected(connection.id));
            self.report_lost(connection, reason.to_owned());
        }
    }

    /// Drops the connection when its server is no longer the primary.
    fn watch(self: &Arc<Shared>, connection: &Arc<Connection>) {
        // Weak, since the watch ends with the connection.
        let (shared, watched) = (Arc::downgrade(self), Arc::downgrade(connection));
        self.settings.watch(&self.locator, connection, move || {
            if let (Some(shared), Some(connection)) = (shared.upgrade(), watched.upgrade()) {
                shared.drop_connection(&connection, "its server is no longer the primary");
            }
        });
    }

    fn reset_if_connecting(&self) {
        let mut state = self.state.lock();
        if matches!(&*state, ConnectionState::Connecting(attempt) if attempt.outcome.has_changed().is_err())
        {
            *state = ConnectionState::NEVER_UP;
        }
    }

    /// Removes the connection, which has ended for `reason`, and returns it. Does nothing if it is not the current one.
    fn forget(&self, id: ConnectionId, reason: &str) -> Option<Arc<Connection>> {
        let mut state = self.state.lock();
        let connection = match &*state {
            ConnectionState::Up(connection) if connection.id == id => connection.clone(),
            _ => return None,
        };
        let next = self.next_attempt(connection.is_useful(), connection.began);
        *state = ConnectionState::Down(next.map(|until| Pause {
            until,
            cause: WireError::unavailable(format!("each connection breaks at once: {reason}")),
        }));
        Some(connection)
    }

    /// Returns when the next attempt may begin, after a connection has ended.
    fn next_attempt(&self, was_useful: bool, began: Instant) -> Option<Instant> {
        let jitter = random::jitter();
        self.pause
            .lock()
            .next_attempt(was_useful, began, Instant::now(), jitter)
    }
}

/// An event of a node, other than the answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PushEvent<'a> {
    /// A message on a subscribed channel.
    Message {
        channel: &'a [u8],
        payload: &'a [u8],
    },
    /// A connection is set up and subscribed.
    Connected(ConnectionId),
    /// A connection has ended. Messages may have been missed, and the next connection may lead to another server. May
    /// be reported only after the next connection is.
    Disconnected(ConnectionId),
}

/// Handles the events of nodes, on the thread that reads or closes the connection. Must not block.
pub(super) type OnPush = Arc<dyn Fn(NodeId, PushEvent<'_>) + Send + Sync>;
