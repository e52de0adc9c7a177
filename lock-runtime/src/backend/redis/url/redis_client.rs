//! Takes the address and the login of a client of redis-rs.

use redis::io::tcp::TcpSettings;
use redis::{ConnectionAddr, ConnectionInfo};

use super::endpoint::connection_login;
use super::parts::Login;
use super::{Servers, Target};
use crate::backend::redis::address::Address;
use crate::backend::redis::login;
use crate::backend::redis::tls::{self, Tls};
use crate::config::Options;
use crate::error::LockError;

const DATABASE: &str = "the Redis client's database is negative";
const PASSWORD: &str = "the Redis client has a password, and the client has credentials of its own: leave one of the two out";
const INSECURE: &str =
    "the Redis client does not verify certificates, and a client for locks always does";
const PARAMETERS: &str = "the certificates of a Redis client cannot be read: give its settings without `tls_params`, \
                          and set the certificates of this client";
const NOT_ENCRYPTED: &str = "the client requires TLS, and the Redis client connects without it";
const CERTIFICATES: &str = "certificates are for TLS, and the Redis client connects without it";
const HOST: &str = "the Redis client's address is not a DNS name or an IP address, with a port";
const SOCKET: &str = "the Redis client sets options of its sockets, which a client for locks chooses by itself: give \
                      its settings with the default TcpSettings";
const UNKNOWN: &str = "the Redis client has an address that this version or system does not know";

/// The settings of a connection to Redis: a `redis::Client` or a `redis::ConnectionInfo`, for
/// [`LockClientBuilder::redis`](crate::LockClientBuilder::redis).
pub trait RedisSettings: sealed::Sealed {}

impl<T: sealed::Sealed> RedisSettings for T {}

mod sealed {
    use redis::ConnectionInfo;

    pub trait Sealed {
        fn connection_info(&self) -> &ConnectionInfo;
    }

    impl Sealed for redis::Client {
        fn connection_info(&self) -> &ConnectionInfo {
            self.get_connection_info()
        }
    }

    impl Sealed for ConnectionInfo {
        fn connection_info(&self) -> &ConnectionInfo {
            self
        }
    }
}

/// The settings of a client of redis-rs. No `Debug`, since they contain a password.
#[derive(Clone)]
pub(crate) struct RedisClient(ConnectionInfo);

impl RedisClient {
    pub(crate) fn of(settings: &impl RedisSettings) -> RedisClient {
        RedisClient(settings.connection_info().clone())
    }
}

impl Target {
    /// Returns the server of a client of redis-rs. The protocol, and the name of the library, are those of its own
    /// connections.
    pub(crate) fn of_redis(
        RedisClient(info): &RedisClient,
        options: &Options,
    ) -> Result<Target, LockError> {
        let settings = info.redis_settings();
        if let Some(reason) = refusal(info, options) {
            return Err(LockError::invalid_options(reason));
        }
        let login = Login {
            user: settings.username().map(str::to_owned),
            password: settings.password().map(str::to_owned),
        };
        let login = connection_login(Some(&login), settings.db());
        login::check(&login, options)?;
        Ok(Target {
            servers: Servers::One(address(info.addr(), options)?),
            login,
        })
    }
}

/// Returns why the settings cannot be taken as they are.
fn refusal(info: &ConnectionInfo, options: &Options) -> Option<&'static str> {
    let settings = info.redis_settings();
    let has_password = settings.password().is_some_and(|text| !text.is_empty());
    if settings.db() < 0 {
        return Some(DATABASE);
    }
    if options.credentials.is_some() && has_password {
        return Some(PASSWORD);
    }
    match info.addr() {
        ConnectionAddr::TcpTls { insecure: true, .. } => Some(INSECURE),
        ConnectionAddr::TcpTls {
            tls_params: Some(_),
            ..
        } => Some(PARAMETERS),
        ConnectionAddr::Tcp(..) if options.require_tls => Some(NOT_ENCRYPTED),
        ConnectionAddr::Tcp(..) if tls::refuse_unused(options).is_err() => Some(CERTIFICATES),
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. }
            if !is_host(host) || *port == 0 =>
        {
            Some(HOST)
        }
        ConnectionAddr::Unix(_) => None,
        _ if !is_default(info.tcp_settings()) => Some(SOCKET),
        _ => None,
    }
}

fn is_host(host: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || ".-_:%".contains(c);
    !host.is_empty() && host.chars().all(is_usual)
}

/// Returns whether all options of sockets are the default, except for `TCP_NODELAY`, which a client for locks sets. Not
/// all of them can be read, but all of them are in the `Debug` form.
fn is_default(settings: &TcpSettings) -> bool {
    let default = TcpSettings::default().set_nodelay(settings.nodelay());
    format!("{settings:?}") == format!("{default:?}")
}

fn address(address: &ConnectionAddr, options: &Options) -> Result<Address, LockError> {
    match address {
        ConnectionAddr::Tcp(host, port) => Ok(Address::Tcp {
            host: host.clone(),
            port: *port,
            tls: None,
        }),
        ConnectionAddr::TcpTls { host, port, .. } => Ok(Address::Tcp {
            host: host.clone(),
            port: *port,
            tls: Some(Tls::new(host, options)?),
        }),
        #[cfg(unix)]
        ConnectionAddr::Unix(path) => Ok(Address::Unix(path.clone())),
        _ => Err(LockError::invalid_options(UNKNOWN)),
    }
}
