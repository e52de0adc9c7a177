//! The one connection to a server, rebuilt when it fails.
//!
//! It is made on the keeper when somebody first needs it, and subscribes to this client's channel
//! before it carries any command: an idle client sends nothing. The client library's own
//! reconnection is not used: it neither notices a server that has stopped answering nor bounds
//! what a call waits for.

use std::io;
use std::mem;
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redis::Value;
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::watch;
use tokio::time::{sleep_until, timeout};

use super::command::Argument;
use super::deletion::Deletion;
use super::error_reply::{describe_broken, judge_setup};
use super::losses::{ReconnectPause, SHORTEST};
use super::slots::ConnectionLost;
use super::transport::{Event, OnEvent, Transport};
use super::url::Target;
use super::{CHANNEL, command, eviction_check, hello, socket, tls};
use crate::backend::wire::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::background::Background;
use crate::background::random;
use crate::background::timers::{Elapsed, Timers};
use crate::error::LockError;
use crate::lease::owner_id::ClientId;
use crate::telemetry;

/// After this many commands in a row without an answer the connection is taken for dead.
const TIMEOUTS: u32 = 2;

/// What comes from the server without having been asked for.
pub(crate) enum PushEvent<'a> {
    /// Somebody published on a channel of this client's.
    Message(&'a [u8]),
    /// There is a connection, and it listens.
    Up(ConnectionId),
    /// The connection is gone; messages may have been missed, and the next one may lead to another server.
    /// It may be said later than that there is another one.
    Down(ConnectionId),
}

/// Says by which names a connection that is about to be made is to be known.
pub(crate) type OnConnect = Arc<dyn Fn() -> Result<Vec<ClientId>, LockError> + Send + Sync>;

/// Takes signals, on whichever thread has read them; must not block.
pub(crate) type OnPush = Arc<dyn Fn(PushEvent<'_>) + Send + Sync>;

/// The way to one server.
pub(crate) struct SharedConnection {
    shared: Arc<Shared>,
}

struct Shared {
    target: Target,
    background: Background,
    /// Never to be read from on callers' runtimes.
    background_only: bool,
    /// Bounds a command, and also an attempt to connect.
    patience: Duration,
    names: OnConnect,
    on_push: OnPush,
    state: Mutex<State>,
    losses: Mutex<ReconnectPause>,
}

enum State {
    /// Not connected; the next attempt may begin at this time, and the last one failed so.
    Down {
        not_before: Option<Instant>,
        last: Option<WireError>,
    },
    Connecting(watch::Receiver<Option<Attempt>>),
    Up(Arc<Connection>),
}

type Attempt = Result<Arc<Connection>, WireError>;

/// One incarnation of the connection.
pub(crate) struct Connection {
    pub(crate) connection_id: ConnectionId,
    transport: Arc<Transport>,
    /// How the server compares and deletes, if it can.
    deletion: Option<Deletion>,
    /// The server has refused that command.
    refuses_deletion: AtomicBool,
    /// When it was asked for.
    began: Instant,
    /// A command was answered without an error.
    of_use: AtomicBool,
    /// Commands in a row that were not answered.
    unanswered: AtomicU32,
    /// When the server last answered anything, at first in setting this up.
    heard: Mutex<Instant>,
}

impl Connection {
    /// The command that compares and deletes, unless the server has none or has refused it.
    pub(super) fn deletion(&self) -> Option<Deletion> {
        let refuses = self.refuses_deletion.load(Ordering::Relaxed);
        self.deletion.filter(|_| !refuses)
    }

    /// The server does not have that command, or its user may not use it.
    pub(super) fn refused_deletion(&self) {
        self.refuses_deletion.store(true, Ordering::Relaxed);
    }

    fn answered(&self) {
        self.unanswered.store(0, Ordering::Relaxed);
        *self.heard_at() = Instant::now();
    }

    /// It is of use once the server has done what it was asked for.
    fn judge_use(&self, answers: &[Value]) {
        let is_done = |answer: &Value| !matches!(answer, Value::ServerError(_));
        if answers.iter().any(is_done) {
            self.of_use.store(true, Ordering::Relaxed);
        }
    }

    /// How long nothing was answered.
    fn silence(&self) -> Duration {
        self.heard_at().elapsed()
    }

    fn heard_at(&self) -> MutexGuard<'_, Instant> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.transport.close("nobody uses it any more");
    }
}

/// Why there is no answer.
pub(crate) enum SendError {
    /// The time was up.
    TimedOut,
    /// The connection broke before anything of the command was written: it may be sent again.
    Unsent,
    /// The connection broke, or it could not make sense of what it read.
    ConnectionLost(Arc<io::Error>),
}

impl SharedConnection {
    pub(crate) fn new(
        target: Target,
        background: Background,
        background_only: bool,
        patience: Duration,
        names: OnConnect,
        on_push: OnPush,
    ) -> SharedConnection {
        let shared = Shared {
            target,
            background,
            background_only,
            patience,
            names,
            on_push,
            state: Mutex::new(State::NEVER_UP),
            losses: Mutex::default(),
        };
        SharedConnection {
            shared: Arc::new(shared),
        }
    }

    /// The time by which a command that begins now must be answered.
    pub(crate) fn until(&self) -> Instant {
        Instant::now() + self.shared.patience
    }

    /// The connection, made if there is none. All who ask meanwhile share one attempt.
    pub(crate) async fn connection(&self, until: Instant) -> Attempt {
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
                    if self.shared.background.spawn(connecting).is_none() {
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
            Ok(Ok(outcome)) => outcome.clone().expect("it was waited for"),
            Ok(Err(_)) => {
                // Its task is gone, so nobody else will say that it failed.
                self.shared.reset_if_connecting();
                Err(WireError::unavailable(
                    "the attempt to connect was given up",
                ))
            }
            Err(_) => Err(self.shared.slow_to_connect()),
        }
    }

    /// Sends the command that `write` appends and waits for its answer.
    pub(crate) async fn send(
        &self,
        connection: &Arc<Connection>,
        write: impl FnOnce(&mut Vec<u8>),
        until: Instant,
    ) -> Result<Value, SendError> {
        let answer = connection.transport.send(write);
        let answer = self.timers().timeout_at(until, answer).await;
        let answer = self.heard(connection, answer)?;
        connection.judge_use(slice::from_ref(&answer));
        Ok(answer)
    }

    /// Sends the `count` commands that `write` appends at once; the answers may hold errors of the server.
    pub(crate) async fn send_all(
        &self,
        connection: &Arc<Connection>,
        count: usize,
        write: impl FnOnce(&mut Vec<u8>),
        until: Instant,
    ) -> Result<Vec<Value>, SendError> {
        let answers = connection.transport.send_all(count, write);
        let answers = self.timers().timeout_at(until, answers).await;
        let answers = self.heard(connection, answers)?;
        connection.judge_use(&answers);
        Ok(answers)
    }

    fn heard<T>(
        &self,
        connection: &Arc<Connection>,
        answer: Result<Result<Result<T, ConnectionLost>, RecvError>, Elapsed>,
    ) -> Result<T, SendError> {
        match answer.map(unless_forked) {
            Ok(Ok(answer)) => {
                connection.answered();
                Ok(answer)
            }
            Ok(Err(ConnectionLost { unsent, error })) => {
                self.drop_connection(connection, "it failed");
                Err(match unsent {
                    true => SendError::Unsent,
                    false => SendError::ConnectionLost(error),
                })
            }
            Err(_) => {
                let unanswered = connection.unanswered.fetch_add(1, Ordering::Relaxed) + 1;
                // One command may have had little time left when it was sent, and many may be too
                // many at once. Neither says anything of a connection on which others are answered.
                if unanswered >= TIMEOUTS && connection.silence() >= self.shared.patience {
                    self.drop_connection(connection, "it does not answer");
                }
                Err(SendError::TimedOut)
            }
        }
    }

    /// Reads what has come on the connection, if there is one and nobody else does.
    pub(crate) fn hear(&self) {
        if let Some(connection) = self.current() {
            connection.transport.hear();
        }
    }

    /// Has messages read from now on, although nothing is sent.
    pub(crate) fn listen(&self) {
        if let Some(connection) = self.current() {
            connection.transport.listen();
        }
    }

    fn current(&self) -> Option<Arc<Connection>> {
        match &*self.shared.state() {
            State::Up(connection) => Some(connection.clone()),
            State::Down { .. } | State::Connecting(_) => None,
        }
    }

    /// Timers for whoever sends: commands are waited for on their callers' tasks.
    pub(crate) fn timers(&self) -> &Timers {
        self.shared.background.timers()
    }

    pub(crate) fn slow(&self) -> WireError {
        let patience = self.shared.patience;
        WireError::unavailable(format!("the server did not answer within {patience:?}"))
    }

    /// Tears `connection` down; the next command makes a new one.
    pub(crate) fn drop_connection(&self, connection: &Connection, reason: &str) {
        if self.shared.forget(connection.connection_id) {
            connection.transport.close(reason);
            (self.shared.on_push)(PushEvent::Down(connection.connection_id));
            // Last: it is for somebody else's code to say how long it takes.
            self.shared.tell_dropped(reason);
        }
    }
}

impl Drop for SharedConnection {
    fn drop(&mut self) {
        // In a forked child the mutex may be held for ever.
        if self.shared.background.check_process().is_err() {
            return;
        }
        // Closed when the mutex is free: those who wait on it are told.
        let last = mem::replace(&mut *self.shared.state(), State::NEVER_UP);
        if let State::Up(connection) = last {
            connection.transport.close("its client is gone");
        }
    }
}

/// A command that was sent in a forked child is dropped.
fn unless_forked<T>(
    answer: Result<Result<T, ConnectionLost>, RecvError>,
) -> Result<T, ConnectionLost> {
    answer.unwrap_or_else(|_| {
        Err(ConnectionLost {
            unsent: false,
            error: Arc::new(io::Error::other("this process was forked")),
        })
    })
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

    fn slow_to_connect(&self) -> WireError {
        let (patience, address) = (self.patience, &self.target.address);
        let hint = address.hint_if_silent();
        WireError::unavailable(format!(
            "{address} did not let us connect within {patience:?}{hint}"
        ))
    }

    fn losses(&self) -> MutexGuard<'_, ReconnectPause> {
        self.losses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_dropped(&self, reason: &str) {
        let failures = self.losses().dropped();
        telemetry::connection_dropped(reason, failures);
    }

    fn reset_if_connecting(&self) {
        let mut state = self.state();
        if matches!(&*state, State::Connecting(attempt) if attempt.has_changed().is_err()) {
            *state = State::NEVER_UP;
        }
    }

    /// Whether that incarnation was the current one, and is not any more.
    fn forget(&self, connection_id: ConnectionId) -> bool {
        let mut state = self.state();
        let State::Up(connection) = &*state else {
            return false;
        };
        if connection.connection_id != connection_id {
            return false;
        }
        let of_use = connection.of_use.load(Ordering::Relaxed);
        *state = State::Down {
            not_before: self.ended(of_use, connection.began),
            last: None,
        };
        true
    }

    /// A connection has ended; the next one may be asked for at the time that is returned.
    fn ended(&self, of_use: bool, began: Instant) -> Option<Instant> {
        let jitter = random::jitter();
        self.losses().ended(of_use, began, Instant::now(), jitter)
    }

    /// One attempt; its outcome becomes the state, then is told to all who wait for it.
    async fn connect(
        self: Arc<Shared>,
        not_before: Option<Instant>,
        outcome: watch::Sender<Option<Attempt>>,
    ) {
        if let Some(time) = not_before {
            sleep_until(time.into()).await;
        }
        let (began, reached) = (Instant::now(), AtomicBool::new(false));
        let attempt = match timeout(self.patience, self.open(began, &reached)).await {
            Ok(attempt) => attempt,
            Err(_) => Err(self.slow_to_connect()),
        };
        let state = match &attempt {
            Ok(connection) => State::Up(connection.clone()),
            Err(fault) => {
                telemetry::connection_failed(fault);
                // A server that is not there is not bothered, and found as soon as it is back.
                let not_before = match reached.into_inner() {
                    true => self.ended(false, began),
                    false => Some(Instant::now() + SHORTEST.mul_f64(1.0 + random::jitter())),
                };
                State::Down {
                    not_before,
                    last: Some(fault.clone()),
                }
            }
        };
        *self.state() = state;
        let up = attempt.as_ref().ok().map(|it| it.connection_id);
        outcome.send_replace(Some(attempt));
        if let Some(connection_id) = up {
            (self.on_push)(PushEvent::Up(connection_id));
        }
    }

    async fn open(self: &Arc<Shared>, began: Instant, reached: &AtomicBool) -> Attempt {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let connection_id = ConnectionId(NEXT.fetch_add(1, Ordering::Relaxed));
        let Target { address, login } = &self.target;
        let (socket, session) = socket::open(address, self.patience, reached).await?;
        let names = (self.names)().map_err(|error| WireError::unavailable(error.to_string()))?;
        let transport = Transport::start(
            socket,
            session,
            self.background.clone(),
            self.background_only,
            self.on_event(connection_id),
        );
        let mut connection = Connection {
            connection_id,
            transport: transport
                .ok_or_else(|| WireError::unavailable("this process was forked"))?,
            deletion: None,
            refuses_deletion: AtomicBool::new(false),
            began,
            of_use: AtomicBool::new(false),
            unanswered: AtomicU32::new(0),
            heard: Mutex::new(Instant::now()),
        };
        // All travel together: the looks at the server take no time of their own.
        let hello = |output: &mut Vec<u8>| hello::write(output, login);
        let greeting = connection.transport.send(hello);
        let mut setup = Vec::new();
        if login.db() != 0 {
            setup.push([Argument::Text("SELECT"), Argument::Number(login.db())]);
        }
        let channel = |name: &ClientId| format!("{CHANNEL}{}", name.as_str());
        let channels: Vec<_> = names.iter().map(channel).collect();
        for channel in &channels {
            // One each, since an error is an answer to one.
            setup.push([Argument::Text("SUBSCRIBE"), Argument::Text(channel)]);
        }
        let steps = setup.len();
        setup.extend(eviction_check::command(address));
        let answers = connection.transport.send_all(setup.len(), |output| {
            for command in &setup {
                command::write(output, command);
            }
        });

        let broken = |broken: ConnectionLost| self.broken_setup(&broken.error);
        let refused = |error: redis::RedisError| judge_setup(&error, login.password());
        let greeting = unless_forked(greeting.await).map_err(broken)?;
        let greeting = greeting.extract_error().map_err(refused)?;
        match hello::classify(address, &greeting) {
            Ok(deletion) => connection.deletion = deletion,
            Err(fault) => {
                self.tell_dropped(&fault.to_string());
                return Err(fault);
            }
        }
        let mut answers = unless_forked(answers.await).map_err(broken)?.into_iter();
        for answer in answers.by_ref().take(steps) {
            answer.extract_error().map_err(refused)?;
        }
        if let Some(answer) = answers.next() {
            eviction_check::classify(address, answer);
        }
        connection.answered();
        Ok(Arc::new(connection))
    }

    /// What came of it while it was set up.
    fn broken_setup(&self, error: &io::Error) -> WireError {
        if let Some(fault) = tls::classify(error) {
            return fault;
        }
        let hint = match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => self.target.address.hint_if_closed(),
            _ => "",
        };
        WireError::unavailable(format!("{}{hint}", describe_broken(error)))
    }

    fn on_event(self: &Arc<Self>, connection_id: ConnectionId) -> OnEvent {
        let on_push = self.on_push.clone();
        // A weak reference: a connection that nobody uses any more must not keep its link.
        let link = Arc::downgrade(self);
        Box::new(move |event| match event {
            Event::Message(payload) => on_push(PushEvent::Message(payload)),
            Event::End => {
                if let Some(link) = link.upgrade()
                    && link.forget(connection_id)
                {
                    (link.on_push)(PushEvent::Down(connection_id));
                }
            }
        })
    }
}
