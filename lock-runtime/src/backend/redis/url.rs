//! Parses the URLs of servers.

mod endpoint;
mod form;
mod parts;
mod percent;
mod quorum_url;
#[cfg(feature = "redis")]
mod redis_client;
mod replica_parameters;
mod sentinel_url;

use redis::RedisConnectionInfo;

use super::address::Address;
use super::login;
use super::sentinel::Sentinels;
use crate::config::{Limits, Options};
use crate::error::LockError;
use endpoint::{PORT, addresses, check_tls, connection_login, database, login_of_first};
use form::Form;
use parts::Login;
pub(crate) use parts::{Parts, trim};
pub(crate) use quorum_url::{QuorumTarget, restart_delay_of};
#[cfg(feature = "redis")]
pub(crate) use redis_client::RedisClient;
#[cfg(feature = "redis")]
pub use redis_client::RedisSettings;
use sentinel_url::SentinelUrl;

/// The port of a Sentinel.
const SENTINEL_PORT: u16 = 26379;

/// The servers of a URL, and the login there. No `Debug`, since a login contains a password.
pub(crate) struct Target {
    pub(super) servers: Servers,
    pub(super) login: RedisConnectionInfo,
}

/// The servers of a URL.
pub(super) enum Servers {
    One(Address),
    /// Some nodes of a cluster, which know the others. At least one.
    Cluster(Vec<Address>),
    /// The sentinels, which know the primary.
    Sentinels(Sentinels),
}

impl Target {
    pub(crate) fn limits(&self) -> Limits {
        match self.servers {
            Servers::One(_) | Servers::Sentinels(_) => Limits::None,
            Servers::Cluster(_) => Limits::OneSlot,
        }
    }

    /// The target of one of
    ///
    /// - `redis://[user[:password]@]host[:port][/database]`,
    /// - `rediss://…`, the same over TLS,
    /// - `redis+unix:///path[?db=…&user=…&pass=…]`,
    /// - `redis-cluster://[user[:password]@]host[:port][,host[:port]…][/database]`, and `rediss-cluster://…`,
    /// - `redis-sentinel://[user[:password]@]host[:port][,host[:port]…][/database][?…]#name`, and
    ///   `rediss-sentinel://…`.
    pub(crate) fn of(url: &Parts, options: &Options) -> Result<Target, LockError> {
        check_tls(url, options)?;
        let target = match url.form {
            Form::Socket => Target::socket(url),
            Form::Sentinels => Target::sentinels(url, options),
            Form::Cluster => Ok(Target {
                servers: Servers::Cluster(addresses(url, PORT, options)?),
                login: login_of_first(url)?,
            }),
            // A quorum's URL becomes a `QuorumTarget` instead.
            Form::Server | Form::Quorum => Ok(Target {
                servers: Servers::One(addresses(url, PORT, options)?.swap_remove(0)),
                login: login_of_first(url)?,
            }),
        }?;
        login::check(&target.login, options)?;
        Ok(target)
    }

    fn sentinels(url: &Parts, options: &Options) -> Result<Target, LockError> {
        let sentinel = SentinelUrl::of(url)?;
        let mut addresses = self::addresses(url, SENTINEL_PORT, options)?;
        // The URL specifies how the primary is reached, even if the sentinels are reached in another way.
        let beside = self::addresses(url, SENTINEL_PORT, options)?.swap_remove(0);
        if sentinel.without_tls {
            if options.require_tls {
                return Err(LockError::invalid_options(
                    "the client requires TLS, and the URL has sentinel_tls=false",
                ));
            }
            addresses.iter_mut().for_each(Address::remove_tls);
        }
        let sentinels = Sentinels {
            name: sentinel.name,
            addresses,
            login: sentinel.login,
            beside,
            epoch: Default::default(),
        };
        Ok(Target {
            servers: Servers::Sentinels(sentinels),
            login: login_of_first(url)?,
        })
    }

    #[cfg(unix)]
    fn socket(url: &Parts) -> Result<Target, LockError> {
        let value = |name| url.parameter(name).map(str::to_owned);
        let login = Login {
            user: value("user"),
            password: value("pass"),
        };
        let database = database(url, url.parameter("db").unwrap_or_default())?;
        Ok(Target {
            servers: Servers::One(Address::Unix((&*url.path).into())),
            login: connection_login(Some(&login), database),
        })
    }

    #[cfg(not(unix))]
    fn socket(_url: &Parts) -> Result<Target, LockError> {
        Err(LockError::invalid_options(
            "there are no unix sockets on this system",
        ))
    }
}

#[cfg(test)]
mod tests;
