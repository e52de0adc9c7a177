//! URLs of quorums.

use std::time::Duration;

use redis::RedisConnectionInfo;

use super::replica_parameters::duration_of;
use crate::backend::redis::address::Address;
use crate::config::{DEFAULT_RESTART_DELAY, Limits};
use crate::error::LockError;

const RESTART_DELAY: &str =
    "restart_delay in a URL is a whole number with ms or s, such as restart_delay=60s";

/// The nodes of a quorum, each with a login, and what the URL says of them.
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

/// Parses what follows `redlock://`: `[user[:password]@]host[:port],…[/database][?restart_delay=60s]`. A node may have a
/// login of its own; the first one's is that of all others. `node` parses the URL of one node.
pub(super) fn parse(
    rest: &str,
    node: impl Fn(&str) -> Result<(Address, RedisConnectionInfo), LockError>,
) -> Result<QuorumTarget, LockError> {
    let (servers, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let restart_delay = restart_delay(parameters)?;
    let (authority, path) = servers.split_at(servers.find(['/', '#']).unwrap_or(servers.len()));
    let login_of = |host: &str| host.rfind('@').map(|at| host[..=at].to_owned());
    let mut hosts = authority.split(',');
    let common = hosts.next().and_then(login_of).unwrap_or_default();
    let url = |host: &str| match host.contains('@') {
        true => format!("{host}{path}"),
        false => format!("{common}{host}{path}"),
    };
    let nodes = authority.split(',').map(|host| node(&url(host)));
    let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
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
    Ok(QuorumTarget {
        nodes,
        restart_delay,
    })
}

fn restart_delay(parameters: &str) -> Result<Duration, LockError> {
    let mut delay = None;
    for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
        let value = parameter.strip_prefix("restart_delay=").ok_or_else(|| {
            LockError::invalid_options("a redlock:// URL takes the parameter restart_delay alone")
        })?;
        if delay.replace(restart_delay_of(value)?).is_some() {
            return Err(LockError::invalid_options(
                "the URL has the parameter restart_delay twice",
            ));
        }
    }
    Ok(delay.unwrap_or(DEFAULT_RESTART_DELAY))
}

/// The restart delay that a parameter of a URL gives.
pub(crate) fn restart_delay_of(value: &str) -> Result<Duration, LockError> {
    duration_of(value).ok_or_else(|| LockError::invalid_options(RESTART_DELAY))
}
