//! The one connection to a node, replaced when it fails.
//!
//! It is made in the background for the first command, and subscribes to this client's channels before it carries
//! any: an idle client sends nothing. The client library's own reconnection is not used: it neither notices a server
//! that has stopped answering nor bounds the wait of a call.

use std::mem;
use std::slice;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redis::Value;
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::watch;
use tokio::time::{sleep_until, timeout};

use super::connect::{Setup, SetupError, unless_forked};
use super::connection::{Connection, SendError};
use super::push::{NodeId, OnPush, PushEvent};
use super::reconnect_pause::{ReconnectPause, SHORTEST};
use super::slots::ConnectionLost;
use super::transport::{Event, OnEvent};
use crate::backend::wire::WireEvents;
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::background::random;
use crate::background::timers::{Elapsed, Timers};
use crate::telemetry;

/// The connection to one node, for all commands of a client.
pub(super) struct SharedConnection {
    shared: Arc<Shared>,
}

struct Shared {
    node: NodeId,
    setup: Setup,
    events: Arc<dyn WireEvents>,
    on_push: OnPush,
    state: Mutex<State>,
    pause: Mutex<ReconnectPause>,
}

enum State {
    /// Not connected. The next attempt may begin at `not_before`; the last one failed with `last`.
    Down {
        not_before: Option<Instant>,
        last: Option<WireError>,
    },
    Connecting(watch::Receiver<Option<Attempt>>),
    Up(Arc<Connection>),
}

type Attempt = Result<Arc<Connection>, WireError>;

impl SharedConnection {
    pub(super) fn new(
        node: NodeId,
        setup: Setup,
        events: Arc<dyn WireEvents>,
        on_push: OnPush,
    ) -> SharedConnection {
        let shared = Shared {
            node,
            setup,
            events,
            on_push,
            state: Mutex::new(State::NEVER_UP),
            pause: Mutex::default(),
        };
        SharedConnection {
            shared: Arc::new(shared),
        }
    }

    /// The time by which a command that begins now must be answered.
    pub(super) fn until(&self) -> Instant {
        Instant::now() + self.shared.setup.command_timeout
    }

    /// The connection, made if there is none. Callers that ask meanwhile share one attempt.
    pub(super) async fn get(&self, until: Instant) -> Attempt {
        let mut attempt = {
            let mut state = self.shared.state();
            match &*state {
                State::Up(connection) => return Ok(connection.clone()),
                State::Connecting(attempt) => attempt.clone(),
                State::Down { not_before, last } => {
                    if not_before.is_some_and(|time| is_late(time, until)) {
                        let breaks = || WireError::unavailable("each connection breaks at once");
                        return Err(last.clone().unwrap_or_else(breaks));
                    }
                    let (outcome, attempt) = watch::channel(None);
                    let connecting = self.shared.clone().connect(*not_before, outcome);
                    if self.shared.setup.background.spawn(connecting).is_none() {
                        return Err(WireError::unavailable("this process was forked"));
                    }
                    *state = State::Connecting(attempt.clone());
                    attempt
                }
            }
        };
        let connected = attempt.wait_for(Option::is_some);
        let outcome = self.timers().timeout_at(until, connected).await;
        match outcome {
            Ok(Ok(outcome)) => outcome.clone().expect("the outcome was waited for"),
            Ok(Err(_)) => {
                // The attempt's task is gone without an outcome.
                self.shared.reset_if_connecting();
                Err(WireError::unavailable(
                    "the attempt to connect was given up",
                ))
            }
            Err(_) => Err(self.shared.setup.describe_timeout()),
        }
    }

    /// Sends the command that `write` appends and waits for its answer.
    pub(super) async fn send(
        &self,
        connection: &Connection,
        write: impl FnOnce(&mut Vec<u8>),
        until: Instant,
    ) -> Result<Value, SendError> {
        let answer = connection.transport.send(write);
        let answer = self.timers().timeout_at(until, answer).await;
        let answer = self.note_answer(connection, answer)?;
        connection.note_use(slice::from_ref(&answer));
        Ok(answer)
    }

    /// Sends the `count` commands that `write` appends at once. The answers may be errors of the server.
    pub(super) async fn send_all(
        &self,
        connection: &Connection,
        count: usize,
        write: impl FnOnce(&mut Vec<u8>),
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
                self.drop_connection(connection, "it failed");
                Err(match unsent {
                    true => SendError::Unsent,
                    false => SendError::Broken(error),
                })
            }
            Err(_) => {
                if connection.is_dead_after_timeout(self.shared.setup.command_timeout) {
                    self.drop_connection(connection, "it does not answer");
                }
                Err(SendError::TimedOut)
            }
        }
    }

    /// Reads the messages that have arrived on the connection, if there is one and no other thread reads.
    pub(super) fn read_messages(&self) {
        if let Some(connection) = self.current() {
            connection.transport.read_messages();
        }
    }

    /// Has messages read from now on, although nothing is sent.
    pub(super) fn keep_reading_messages(&self) {
        if let Some(connection) = self.current() {
            connection.transport.keep_reading_messages();
        }
    }

    fn current(&self) -> Option<Arc<Connection>> {
        match &*self.shared.state() {
            State::Up(connection) => Some(connection.clone()),
            State::Down { .. } | State::Connecting(_) => None,
        }
    }

    /// Timers for commands, which are awaited on their callers' tasks.
    pub(super) fn timers(&self) -> &Timers {
        self.shared.setup.background.timers()
    }

    pub(super) fn command_timeout(&self) -> Duration {
        self.shared.setup.command_timeout
    }

    /// Closes `connection`. The next command makes a new one.
    pub(super) fn drop_connection(&self, connection: &Connection, reason: &str) {
        if self.shared.forget(connection.id) {
            connection.transport.close(reason);
            self.shared.push(PushEvent::Disconnected(connection.id));
            // Last, since a subscriber may take its time.
            self.shared.report_dropped(reason);
        }
    }
}

impl Drop for SharedConnection {
    fn drop(&mut self) {
        // In a forked child the mutex may be held for ever.
        if self.shared.setup.background.check_process().is_err() {
            return;
        }
        // Closed when the mutex is free, since closing wakes the callers that wait for answers.
        let last = mem::replace(&mut *self.shared.state(), State::NEVER_UP);
        if let State::Up(connection) = last {
            connection.transport.close("its client is gone");
        }
    }
}

impl State {
    const NEVER_UP: State = State::Down {
        not_before: None,
        last: None,
    };
}

/// Whether an attempt that may begin at `time` would have too little of the time left that ends at `until`.
fn is_late(time: Instant, until: Instant) -> bool {
    let now = Instant::now();
    time.saturating_duration_since(now) > until.saturating_duration_since(now) / 2
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pause(&self) -> MutexGuard<'_, ReconnectPause> {
        self.pause.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, event: PushEvent<'_>) {
        (self.on_push)(self.node, event);
    }

    fn report_dropped(&self, reason: &str) {
        let failures = self.pause().note_dropped();
        telemetry::connection_dropped(reason, failures);
    }

    fn reset_if_connecting(&self) {
        let mut state = self.state();
        if matches!(&*state, State::Connecting(attempt) if attempt.has_changed().is_err()) {
            *state = State::NEVER_UP;
        }
    }

    /// Whether the connection was the current one, which it is no longer.
    fn forget(&self, id: ConnectionId) -> bool {
        let mut state = self.state();
        let State::Up(connection) = &*state else {
            return false;
        };
        if connection.id != id {
            return false;
        }
        *state = State::Down {
            not_before: self.next_attempt(connection.is_useful(), connection.began),
            last: None,
        };
        true
    }

    /// When the next connection may be asked for, after one that has ended.
    fn next_attempt(&self, was_useful: bool, began: Instant) -> Option<Instant> {
        let jitter = random::jitter();
        self.pause()
            .next_attempt(was_useful, began, Instant::now(), jitter)
    }

    /// Makes one attempt. Its outcome becomes the state, then goes to all callers that wait for it.
    async fn connect(
        self: Arc<Shared>,
        not_before: Option<Instant>,
        outcome: watch::Sender<Option<Attempt>>,
    ) {
        if let Some(time) = not_before {
            sleep_until(time.into()).await;
        }
        let (began, reached) = (Instant::now(), AtomicBool::new(false));
        let attempt = self.attempt(began, &reached).await;
        let state = match &attempt {
            Ok(connection) => State::Up(connection.clone()),
            Err(error) => {
                telemetry::connection_failed(error);
                // A server that is not there is asked at a low, steady rate, and found soon after it is back.
                let not_before = match reached.into_inner() {
                    true => self.next_attempt(false, began),
                    false => Some(Instant::now() + SHORTEST.mul_f64(1.0 + random::jitter())),
                };
                State::Down {
                    not_before,
                    last: Some(error.clone()),
                }
            }
        };
        *self.state() = state;
        let connected = attempt.as_ref().ok().map(|connection| connection.id);
        outcome.send_replace(Some(attempt));
        if let Some(id) = connected {
            self.push(PushEvent::Connected(id));
        }
    }

    async fn attempt(self: &Arc<Shared>, began: Instant, reached: &AtomicBool) -> Attempt {
        let connecting = async {
            // Drawn when the socket is open: an owner that comes meanwhile uses them as well.
            let client_ids = || {
                let ids = self.events.client_ids();
                ids.map_err(|error| WireError::unavailable(error.to_string()))
            };
            let on_event = |id| self.on_event(id);
            self.setup
                .connect(began, reached, client_ids, on_event)
                .await
        };
        match timeout(self.setup.command_timeout, connecting).await {
            Ok(Ok(connection)) => Ok(Arc::new(connection)),
            Ok(Err(SetupError::Failed(error))) => Err(error),
            Ok(Err(SetupError::UnfitServer(error))) => {
                self.report_dropped(&error.to_string());
                Err(error)
            }
            Err(_) => Err(self.setup.describe_timeout()),
        }
    }

    fn on_event(self: &Arc<Self>, id: ConnectionId) -> OnEvent {
        // The handler of messages does without the shared state, which may be gone.
        let (node, on_push) = (self.node, self.on_push.clone());
        // Weak: a connection that is not used any more must not keep this alive.
        let shared = Arc::downgrade(self);
        Box::new(move |event| match event {
            Event::Message(payload) => on_push(node, PushEvent::Message(payload)),
            Event::End => {
                if let Some(shared) = shared.upgrade()
                    && shared.forget(id)
                {
                    shared.push(PushEvent::Disconnected(id));
                }
            }
        })
    }
}
