//! The setup of a connection: socket, HELLO, database, subscriptions, and a check of the server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::RedisConnectionInfo;

use super::address::Address;
use super::answer::{ConnectionLost, unless_forked};
use super::command::{self, Argument};
use super::connection::Connection;
use super::error_reply::{describe_broken, describe_setup};
use super::hello::ServerMode;
use super::renewals::WaitReplicas;
use super::transport::{OnTransportEvent, Transport};
use super::{eviction_check, hello, open_socket, tls};
use crate::backend::wire::error::WireError;
use crate::backend::wire::outstanding::ConnectionId;
use crate::background::Background;
use crate::config::Options;
use crate::config::address_map::AddressMap;
use crate::lease::owner_id::ClientId;

/// The channel of a client is this and its id, whatever the prefix of its keys. So the scripts can contain it, and
/// an ACL rule for channels need not follow the prefix.
const CHANNEL: &str = "lock:";

/// What all connections of a client share.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) login: Arc<RedisConnectionInfo>,
    pub(super) expected: ServerMode,
    pub(super) background: Background,
    /// Whether only the background reads.
    pub(super) background_only: bool,
    /// Bounds a command, and also an attempt to connect.
    pub(super) command_timeout: Duration,
    /// The replicas that must have a lock before its caller has it; `None` for none.
    pub(super) wait_replicas: Option<WaitReplicas>,
    /// Where the nodes of a cluster are reached.
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
            login: Arc::new(login),
            expected,
            background,
            background_only: options.background_only,
            address_map: options.address_map.clone(),
            command_timeout: options.command_timeout,
            wait_replicas: (options.wait_replicas > 0).then_some(WaitReplicas {
                replicas: options.wait_replicas,
                timeout: options.replica_timeout,
            }),
        }
    }
}

/// The settings of all connections to a node.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) address: Arc<Address>,
    /// Whether the connections are subscribed to the client's channels.
    pub(super) is_subscribed: bool,
    pub(super) settings: Settings,
}

impl Setup {
    /// The setup of connections for all commands and messages.
    pub(super) fn new(address: impl Into<Arc<Address>>, settings: Settings) -> Setup {
        Setup {
            address: address.into(),
            is_subscribed: true,
            settings,
        }
    }
}

impl Setup {
    /// Connects, and subscribes to the channels of `client_ids`, which is called once the socket is open.
    /// `reached` is set once the server has accepted the connection. The caller bounds the time.
    pub(super) async fn connect(
        &self,
        began: Instant,
        reached: &AtomicBool,
        client_ids: impl FnOnce() -> Result<Vec<ClientId>, WireError>,
        on_event: impl FnOnce(ConnectionId) -> OnTransportEvent,
    ) -> Result<Connection, SetupError> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = ConnectionId(NEXT.fetch_add(1, Ordering::Relaxed));
        let Setup {
            address, settings, ..
        } = self;
        let Settings {
            login,
            expected,
            background,
            background_only,
            command_timeout,
            ..
        } = settings;
        let (socket, session) = open_socket::open(address, *command_timeout, reached).await?;
        let client_ids = match self.is_subscribed {
            true => client_ids()?,
            false => Vec::new(),
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
        // All commands travel together, so that checking the server takes no further round trip.
        let greeting = transport.send(|output| hello::write(output, login));
        let mut commands = Vec::new();
        if login.db() != 0 {
            commands.push([Argument::Text("SELECT"), Argument::Number(login.db())]);
        }
        let channels: Vec<_> = client_ids.iter().copied().map(channel_of).collect();
        for channel in &channels {
            // One command for each channel, since one command with several channels has several answers.
            commands.push([Argument::Text("SUBSCRIBE"), Argument::Text(channel)]);
        }
        let required = commands.len();
        commands.extend(eviction_check::command(address));
        // Without any command there would be no answer.
        let answers = (!commands.is_empty()).then(|| {
            transport.send_all(commands.len(), |output| {
                for command in &commands {
                    command::write(output, command);
                }
            })
        });

        let broken = |lost: ConnectionLost| self.describe_lost(&lost.error);
        let refused = |error: redis::RedisError| describe_setup(&error, login.password());
        let greeting = unless_forked(greeting.await).map_err(broken)?;
        let greeting = greeting.extract_error().map_err(refused)?;
        let deletion =
            hello::check(address, *expected, &greeting).map_err(SetupError::UnfitServer)?;
        let answers = match answers {
            Some(answers) => unless_forked(answers.await).map_err(broken)?,
            None => Vec::new(),
        };
        let mut answers = answers.into_iter();
        for answer in answers.by_ref().take(required) {
            answer.extract_error().map_err(refused)?;
        }
        if let Some(answer) = answers.next() {
            eviction_check::check(address, answer);
        }
        unfinished.disarm();
        Ok(Connection::new(id, transport, deletion, client_ids, began))
    }

    /// Describes the loss of a connection during its setup.
    fn describe_lost(&self, error: &io::Error) -> WireError {
        if let Some(error) = tls::classify(error) {
            return error;
        }
        let hint = match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => self.address.hint_if_closed(),
            _ => "",
        };
        WireError::unavailable(format!("{}{hint}", describe_broken(error)))
    }

    pub(super) fn describe_timeout(&self) -> WireError {
        let (timeout, address) = (self.settings.command_timeout, &self.address);
        let hint = address.hint_if_silent();
        WireError::unavailable(format!(
            "{address} did not let us connect within {timeout:?}{hint}"
        ))
    }
}

/// The channel of a client that goes by `id`.
pub(super) fn channel_of(id: ClientId) -> String {
    format!("{CHANNEL}{}", id.as_str())
}

/// Why there is no connection.
pub(super) enum SetupError {
    /// The server cannot keep locks.
    UnfitServer(WireError),
    Failed(WireError),
}

impl From<WireError> for SetupError {
    fn from(error: WireError) -> SetupError {
        SetupError::Failed(error)
    }
}

/// Closes a transport whose setup was not completed.
struct CloseOnDrop(Option<Transport>);

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
