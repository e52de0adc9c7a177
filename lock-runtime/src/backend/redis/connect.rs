//! Sets up a connection: socket, HELLO, database, subscriptions, and a check of the server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::{RedisConnectionInfo, Value};
use tokio::time::{sleep, timeout};

use super::address::Address;
use super::connection::Connection;
use super::encoder::{self, Argument};
use super::error_reply::{describe_broken, describe_login, describe_setup};
use super::hello::{self, ServerMode};
use super::locator::Locator;
use super::login::Login;
use super::quorum::boots::Boots;
use super::renewals::WaitReplicas;
use super::sentinel::{Finder, Sentinels, Watch, until_elsewhere};
use super::transport::{ConnectionLost, OnTransportEvent, Transport, unless_forked};
use super::{eviction_check, open_socket, reconnect_pause, tls};
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::background::sync::Mutex;
use crate::background::{Background, random};
use crate::config::Options;
use crate::config::address_map::AddressMap;
use crate::lease::owner_id::ClientId;

/// A client's channel is this plus the client's id, without the prefix of its keys. So the scripts can contain it, and
/// an ACL rule for channels does not depend on the prefix.
const CHANNEL: &str = "lock:";

/// How long to wait for a replica to name its primary.
const PRIMARY: Duration = Duration::from_millis(250);

/// How the connections of a client are set up, whichever server they lead to.
#[derive(Clone)]
pub(super) struct Settings {
    /// Whether a connection is subscribed to the client's channels.
    pub(super) is_subscribed: bool,
    pub(super) login: Arc<Login>,
    pub(super) expected: ServerMode,
    pub(super) background: Background,
    /// Whether only the background reads.
    pub(super) background_only: bool,
    /// The timeout of a command, and of an attempt to connect.
    pub(super) command_timeout: Duration,
    /// The replicas that must have a lock before its caller gets it; `None` if no replica must.
    pub(super) wait_replicas: Option<WaitReplicas>,
    /// Tracks the boots of a quorum's nodes.
    pub(super) boots: Option<Arc<Boots>>,
    /// Maps the announced addresses of a cluster's nodes to reachable ones.
    pub(super) address_map: AddressMap,
}

impl Settings {
    pub(super) fn new(
        login: RedisConnectionInfo,
        expected: ServerMode,
        options: &Options,
        background: Background,
    ) -> Settings {
        Settings {
            is_subscribed: true,
            login: Arc::new(Login::new(login, options)),
            expected,
            background,
            background_only: options.background_only,
            boots: None,
            address_map: options.address_map.clone(),
            command_timeout: options.command_timeout,
            wait_replicas: options
                .replicas()
                .map(|(replicas, timeout)| WaitReplicas { replicas, timeout }),
        }
    }

    /// Returns the same settings, for a node of a quorum.
    pub(super) fn of_quorum(self, boots: Arc<Boots>) -> Settings {
        let boots = Some(boots);
        Settings { boots, ..self }
    }
}

impl Settings {
    /// Connects, and subscribes to the channels of `client_ids`, which is called once the socket is open. `progress`
    /// records how far the attempt got. The caller limits the time.
    pub(super) async fn connect(
        &self,
        locator: &Locator,
        began: Instant,
        progress: &AttemptProgress,
        client_ids: &(dyn Fn() -> Result<Vec<ClientId>, WireError> + Sync),
        on_event: &(dyn Fn(ConnectionId) -> OnTransportEvent + Sync),
    ) -> Result<Connection, SetupError> {
        match locator {
            Locator::Fixed(address) => {
                let limit = self.command_timeout;
                let connecting =
                    self.connect_to(address, began, limit, progress, client_ids, on_event);
                connecting.await
            }
            Locator::Sentinels(sentinels) => {
                let connecting = self.connect_by(sentinels, began, progress, client_ids, on_event);
                // Boxed, since only clients with sentinels need it.
                Box::pin(connecting).await
            }
        }
    }

    /// Connects to the server that the sentinels name as the primary. If that server is unreachable or a replica, asks
    /// the sentinels again: they learn of a failover at different times.
    async fn connect_by(
        &self,
        sentinels: &Arc<Sentinels>,
        began: Instant,
        progress: &AttemptProgress,
        client_ids: &(dyn Fn() -> Result<Vec<ClientId>, WireError> + Sync),
        on_event: &(dyn Fn(ConnectionId) -> OnTransportEvent + Sync),
    ) -> Result<Connection, SetupError> {
        let Settings {
            background,
            command_timeout,
            ..
        } = self;
        // Less than half of the time, so that a silent sentinel or server leaves enough to try another one.
        let share = *command_timeout * 2 / 5;
        let mut finder = Finder::new(sentinels.clone(), background.clone(), share);
        let mut failures = 0;
        loop {
            let attempt = async {
                let (primary, by) = finder.find().await?;
                let address = sentinels.address_of(&primary)?;
                let connecting =
                    self.connect_to(&address, began, share, progress, client_ids, on_event);
                match timeout(share, connecting).await {
                    Ok(connected) => Ok(connected?.named_by_sentinel(primary, by)),
                    Err(_) => Err(SetupError::Failed(WireError::unavailable(format!(
                        "{address} did not let us connect within {share:?}"
                    )))),
                }
            };
            let failure = match attempt.await {
                Ok(connection) => return Ok(connection),
                Err(failure) => failure,
            };
            failures += 1;
            let pause = reconnect_pause::grown(failures, random::jitter());
            let is_late = began.elapsed() + pause + share > *command_timeout;
            if failure.is_final() || is_late {
                return Err(failure);
            }
            sleep(pause).await;
        }
    }

    /// Connects to this server within `limit`, in an attempt that began at `began`.
    async fn connect_to(
        &self,
        address: &Address,
        began: Instant,
        limit: Duration,
        progress: &AttemptProgress,
        client_ids: &(dyn Fn() -> Result<Vec<ClientId>, WireError> + Sync),
        on_event: &(dyn Fn(ConnectionId) -> OnTransportEvent + Sync),
    ) -> Result<Connection, SetupError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = ConnectionId(NEXT.fetch_add(1, Ordering::Relaxed));
        let Settings {
            login,
            expected,
            background,
            background_only,
            command_timeout,
            ..
        } = self;
        let started = Instant::now();
        let server = progress.begin(address);
        let (socket, session) =
            open_socket::open(address, *command_timeout, &progress.is_reached).await?;
        // Only once the server is reached: otherwise the application would be asked in every attempt while the server
        // is away. Part of the time is reserved, so that an error can name the slow party.
        let limit = (limit * 9 / 10).saturating_sub(started.elapsed());
        let login = login.current(limit).await?;
        let client_ids = if self.is_subscribed {
            client_ids()?
        } else {
            Vec::new()
        };
        let transport = Transport::start(
            socket,
            session,
            background.clone(),
            *background_only,
            on_event(id),
        );
        let transport =
            transport.ok_or_else(|| WireError::unavailable("this process was forked"))?;
        let unfinished = CloseOnDrop(Some(transport.clone()));
        // All commands are sent together, so that checking the server takes no further round trip.
        let greeting = transport.send(&|output| hello::write(output, &login));
        let mut commands = Vec::new();
        if login.db() != 0 {
            commands.push(vec![Argument::Text("SELECT"), Argument::Number(login.db())]);
        }
        let channels: Vec<_> = client_ids.iter().copied().map(channel_of).collect();
        for channel in &channels {
            // One command per channel, since a command with several channels has several answers.
            commands.push(vec![Argument::Text("SUBSCRIBE"), Argument::Text(channel)]);
        }
        let required = commands.len();
        let asks_for_boot = self.boots.is_some();
        commands.extend(asks_for_boot.then(|| ["INFO", "server"].map(Argument::Text).to_vec()));
        commands.extend(eviction_check::command(address).map(|command| command.to_vec()));
        // Without a command there would be no answer to wait for.
        let answers = (!commands.is_empty()).then(|| {
            transport.send_all(commands.len(), &|output| {
                for command in &commands {
                    encoder::write(output, command);
                }
            })
        });

        let broken = |lost: ConnectionLost| describe_lost(address, &lost.error);
        let refused = |error: redis::RedisError| describe_setup(&error, login.password());
        let greeting = unless_forked(greeting.await).map_err(broken)?;
        let greeting = greeting
            .extract_error()
            .map_err(|error| describe_login(&error, login.password()))?;
        let deletion = match hello::check(address, *expected, &greeting) {
            Ok(deletion) => deletion,
            // A replica that the URL names. One that the sentinels name is about to be something else.
            Err(unfit @ WireError::Unavailable(_)) if *expected != ServerMode::Primary => {
                let asked = timeout(PRIMARY, transport.send(&|output| hello::ask_role(output)));
                let role = asked.await.ok().and_then(|role| unless_forked(role).ok());
                return Err(SetupError::UnfitServer(hello::with_primary(unfit, role)));
            }
            Err(unfit) => return Err(SetupError::UnfitServer(unfit)),
        };
        let version = hello::version(&greeting);
        let answers = match answers {
            Some(answers) => unless_forked(answers.await).map_err(broken)?,
            None => Vec::new(),
        };
        let mut answers = answers.into_iter();
        for answer in answers.by_ref().take(required) {
            answer.extract_error().map_err(refused)?;
        }
        let boot = match &self.boots {
            Some(boots) => {
                let boot = boots.check(address, answers.next().unwrap_or(Value::Nil));
                Some(boot.map_err(SetupError::UnfitServer)?)
            }
            None => None,
        };
        if let Some(answer) = answers.next() {
            eviction_check::check(address, answer);
        }
        unfinished.disarm();
        let connection = Connection::new(id, transport, server, deletion, client_ids, began);
        Ok(connection.of_version(version).of_boot(boot))
    }

    /// Calls `on_elsewhere` once the sentinels, if any, name another primary. The watch ends with the connection.
    pub(super) fn watch(
        &self,
        locator: &Locator,
        connection: &Connection,
        on_elsewhere: impl FnOnce() + Send + 'static,
    ) {
        let (Locator::Sentinels(sentinels), Some((primary, number))) =
            (locator, connection.named.clone())
        else {
            return;
        };
        let background = &self.background;
        let elsewhere = until_elsewhere(sentinels.clone(), primary, number, background.clone());
        let watch = Watch::begin(background, async move {
            elsewhere.await;
            on_elsewhere();
        });
        if let Some(watch) = watch {
            let is_first = connection.watch.set(watch).is_ok();
            debug_assert!(is_first, "a connection is watched once");
        }
    }

    pub(super) fn describe_timeout(&self, locator: &Locator) -> WireError {
        let timeout = self.command_timeout;
        let hint = locator.hint_if_silent();
        WireError::unavailable(format!(
            "{locator} did not let us connect within {timeout:?}{hint}"
        ))
    }
}

pub(super) fn channel_of(id: ClientId) -> String {
    format!("{CHANNEL}{}", id.as_str())
}

/// Describes the loss of a connection during its setup.
fn describe_lost(address: &Address, error: &io::Error) -> WireError {
    if let Some(error) = tls::classify(error) {
        return error;
    }
    let hint = match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => address.hint_if_closed(),
        _ => "",
    };
    WireError::unavailable(format!("{}{hint}", describe_broken(error)))
}

/// The reason that there is no connection.
pub(super) enum SetupError {
    /// The server cannot keep locks.
    UnfitServer(WireError),
    Failed(WireError),
}

impl SetupError {
    /// Returns whether the next attempt would fail, too.
    fn is_final(&self) -> bool {
        let (SetupError::UnfitServer(error) | SetupError::Failed(error)) = self;
        matches!(error, WireError::Refused(_))
    }
}

impl From<SetupError> for WireError {
    fn from(error: SetupError) -> WireError {
        let (SetupError::UnfitServer(error) | SetupError::Failed(error)) = error;
        error
    }
}

impl From<WireError> for SetupError {
    fn from(error: WireError) -> SetupError {
        SetupError::Failed(error)
    }
}

/// Closes a transport if its setup is not completed.
struct CloseOnDrop(Option<Arc<Transport>>);

impl CloseOnDrop {
    fn disarm(mut self) {
        self.0 = None;
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(transport) = self.0.take() {
            transport.close("its setup failed");
        }
    }
}

/// How far an attempt to connect got. Its caller may have stopped waiting for it.
#[derive(Default)]
pub(super) struct AttemptProgress {
    /// Whether a server accepted the connection.
    pub(super) is_reached: AtomicBool,
    server: Mutex<Option<Arc<str>>>,
}

impl AttemptProgress {
    /// Notes the server that is tried now, and returns its name for reports.
    pub(super) fn begin(&self, address: &Address) -> Arc<str> {
        let server: Arc<str> = address.to_string().into();
        *self.server.lock() = Some(server.clone());
        server
    }

    /// Returns the server that was tried last, if any is known.
    pub(super) fn server(&self) -> Option<Arc<str>> {
        self.server.lock().clone()
    }
}
