//! Parses the URLs of quorums.

use std::time::Duration;

use redis::RedisConnectionInfo;

use super::endpoint::{PORT, address, check_tls, connection_login, database};
use super::form::Form;
use super::parts::{Host, Parts};
use super::replica_parameters::duration_of;
use crate::backend::redis::address::Address;
use crate::backend::redis::login;
use crate::config::{DEFAULT_RESTART_DELAY, Limits, Options};
use crate::error::LockError;

const RESTART_DELAY: &str =
    "restart_delay in a URL is a whole number with ms or s, such as restart_delay=60s";

/// The nodes of a quorum, each with a login, and the options in the URL.
pub(crate) struct QuorumTarget {
    pub(in crate::backend::redis) nodes: Vec<(Address, RedisConnectionInfo)>,
    pub(in crate::backend::redis) restart_delay: Duration,
}

impl QuorumTarget {
    pub(crate) fn limits(&self) -> Limits {
        Limits::Quorum {
            restart_delay: self.restart_delay,
        }
    }
}

impl QuorumTarget {
    /// Parses `redlock://[user[:password]@]host[:port],host[:port],host[:port]…[/database][?restart_delay=60s]`, or
    /// `redlocks://…`, which is the same over TLS. Returns `None` for another scheme. The first login is for all nodes,
    /// or each node has its own.
    pub(crate) fn of(url: &Parts, options: &Options) -> Result<Option<QuorumTarget>, LockError> {
        if url.form != Form::Quorum {
            return Ok(None);
        }
        check_tls(url, options)?;
        let restart_delay = restart_delay(url)?;
        let database = database(url, &url.path)?;
        let common = url.hosts.first().and_then(|host| host.login.as_ref());
        let node = |host: &Host| {
            let address = address(host, PORT, url.is_encrypted, options)?;
            let login = connection_login(host.login.as_ref().or(common), database);
            login::check(&login, options)?;
            Ok((address, login))
        };
        let nodes = url.hosts.iter().map(node);
        let nodes = nodes.collect::<Result<Vec<_>, LockError>>()?;
        check_nodes(&nodes)?;
        Ok(Some(QuorumTarget {
            nodes,
            restart_delay,
        }))
    }
}

fn check_nodes(nodes: &[(Address, RedisConnectionInfo)]) -> Result<(), LockError> {
    if ![3, 5, 7, 9].contains(&nodes.len()) {
        return Err(LockError::invalid_options(format!(
            "a redlock:// URL names 3, 5, 7 or 9 nodes, and not {}: an even number survives no more losses than one less",
            nodes.len()
        )));
    }
    for (number, (address, _)) in nodes.iter().enumerate() {
        let name = address.to_string();
        if nodes[..number]
            .iter()
            .any(|(other, _)| other.to_string() == name)
        {
            return Err(LockError::invalid_options(format!(
                "a redlock:// URL names {name} twice, and each node must be a server of its own"
            )));
        }
    }
    Ok(())
}

fn restart_delay(url: &Parts) -> Result<Duration, LockError> {
    match url.parameter("restart_delay") {
        None => Ok(DEFAULT_RESTART_DELAY),
        Some(value) => restart_delay_of(value),
    }
}

/// Parses the restart delay in a parameter of a URL.
pub(crate) fn restart_delay_of(value: &str) -> Result<Duration, LockError> {
    duration_of(value).ok_or_else(|| LockError::invalid_options(RESTART_DELAY))
}
