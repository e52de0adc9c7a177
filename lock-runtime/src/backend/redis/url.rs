//! URLs of servers.

mod quorum_url;
pub(crate) mod replica_parameters;
mod sentinel_url;

use redis::{ConnectionAddr, IntoConnectionInfo, ProtocolVersion, RedisConnectionInfo};

use super::address::Address;
use super::login;
use super::sentinel::Sentinels;
use super::tls::{self, Tls};
use crate::config::{Limits, Options};
use crate::error::LockError;
pub(crate) use quorum_url::{QuorumTarget, restart_delay_of};
use sentinel_url::SentinelUrl;

/// The port of a Sentinel.
const SENTINEL_PORT: u16 = 26379;

const SCHEMES: &str = "the URL must begin with redis://, rediss://, redis-cluster://, redis-sentinel://, \
                       redlock://, redis+unix:// or memory://";

/// What a URL names, and the login there. No `Debug`, since a login contains a password.
pub(crate) struct Target {
    pub(super) servers: Servers,
    pub(super) login: RedisConnectionInfo,
}

/// The servers that a URL names.
pub(super) enum Servers {
    One(Address),
    /// Nodes of a cluster, which know the others. There is at least one.
    Cluster(Vec<Address>),
    /// Sentinels, which know the primary.
    Sentinels(Sentinels),
}

impl QuorumTarget {
    /// Parses `redlock://[user[:password]@]host[:port],host[:port],host[:port]…[/database][?restart_delay=60s]` and
    /// `redlocks://…`, the same over TLS. `None` if the URL names no quorum. Errors do not repeat the URL.
    pub(crate) fn parse(url: &str, options: &Options) -> Result<Option<QuorumTarget>, LockError> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "redlock" => false,
            "redlocks" => true,
            _ => return Ok(None),
        };
        if !tls {
            if options.require_tls {
                return Err(LockError::invalid_options(
                    "the client requires TLS, and the URL begins with redlock:// instead of redlocks://",
                ));
            }
            tls::refuse_unused(options)?;
        }
        let tls = |host: &str| tls.then(|| Tls::new(host, options)).transpose();
        let node = |rest: &str| match Target::tcp(rest, tls)? {
            Target {
                servers: Servers::One(address),
                login,
            } => Ok((address, login)),
            _ => unreachable!("a URL of one host names one server"),
        };
        let target = quorum_url::parse(rest, node)?;
        for (_, login) in &target.nodes {
            login::check(login, options)?;
        }
        Ok(Some(target))
    }
}

impl Target {
    pub(crate) fn limits(&self) -> Limits {
        match self.servers {
            Servers::One(_) | Servers::Sentinels(_) => Limits::None,
            Servers::Cluster(_) => Limits::OneSlot,
        }
    }

    /// Parses one of
    ///
    /// - `redis://[user[:password]@]host[:port][/database]`,
    /// - `rediss://…`, the same over TLS,
    /// - `redis+unix:///path[?db=…&user=…&pass=…]`,
    /// - `redis-cluster://[user[:password]@]host[:port][,host[:port]…][/database]`, and `rediss-cluster://…`,
    /// - `redis-sentinel://[user[:password]@]host[:port][,host[:port]…][/database][?…]#name`, and
    ///   `rediss-sentinel://…`.
    ///
    /// without the [parameters](replica_parameters) that all of them take. User, password and path may be
    /// percent-encoded. Errors do not repeat the URL.
    pub(crate) fn parse(url: &str, options: &Options) -> Result<Target, LockError> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let scheme = scheme.to_ascii_lowercase();
        let (scheme, kind) = scheme.split_once('-').unwrap_or((&scheme, ""));
        let read = |tls: &dyn Fn(&str) -> Result<Option<Tls>, LockError>| match kind {
            "" => Target::tcp(rest, tls),
            "cluster" => Target::cluster(rest, tls),
            "sentinel" => Target::sentinels(rest, options, tls),
            _ => Err(LockError::invalid_options(SCHEMES)),
        };
        let target = match scheme {
            "redis" | "valkey" if options.require_tls => Err(LockError::invalid_options(
                "the client requires TLS, and the URL begins with redis:// instead of rediss://",
            )),
            "redis" | "valkey" => {
                tls::refuse_unused(options)?;
                read(&|_| Ok(None))
            }
            "rediss" | "valkeys" => read(&|host| Tls::new(host, options).map(Some)),
            "redis+unix" | "valkey+unix" | "unix" if kind.is_empty() => Target::unix(rest),
            _ => Err(LockError::invalid_options(SCHEMES)),
        }?;
        login::check(&target.login, options)?;
        Ok(target)
    }

    fn cluster(
        rest: &str,
        tls: impl Fn(&str) -> Result<Option<Tls>, LockError>,
    ) -> Result<Target, LockError> {
        let (nodes, login) = Target::several(rest, None, tls)?;
        Ok(Target {
            servers: Servers::Cluster(nodes),
            login,
        })
    }

    fn sentinels(
        rest: &str,
        options: &Options,
        tls: impl Fn(&str) -> Result<Option<Tls>, LockError>,
    ) -> Result<Target, LockError> {
        let url = SentinelUrl::parse(rest).map_err(LockError::invalid_options)?;
        let (mut addresses, login) = Target::several(url.servers, Some(SENTINEL_PORT), &tls)?;
        // The primary is reached as the URL says, also where the sentinels are not.
        let beside = Target::several(url.servers, Some(SENTINEL_PORT), &tls)?
            .0
            .swap_remove(0);
        if url.without_tls {
            if options.require_tls {
                return Err(LockError::invalid_options(
                    "the client requires TLS, and the URL has sentinel_tls=false",
                ));
            }
            addresses.iter_mut().for_each(Address::remove_tls);
        }
        let sentinels = Sentinels {
            name: url.name,
            addresses,
            login: resp3(url.login),
            beside,
            epoch: Default::default(),
        };
        Ok(Target {
            servers: Servers::Sentinels(sentinels),
            login,
        })
    }

    /// Several hosts, whose port is `port` where none is named, and the login that they share.
    fn several(
        rest: &str,
        port: Option<u16>,
        tls: impl Fn(&str) -> Result<Option<Tls>, LockError>,
    ) -> Result<(Vec<Address>, RedisConnectionInfo), LockError> {
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        // An `@` in a password is percent-encoded.
        let (login, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        let has_port = |host: &str| host.rsplit(']').next().is_some_and(|end| end.contains(':'));
        let default = |host: &str| match port {
            Some(port) if !has_port(host) => format!(":{port}"),
            _ => String::new(),
        };
        let url = |host: &str| format!("{login}{host}{}{path}", default(host));
        let target = |host: &str| match Target::tcp(&url(host), &tls) {
            Ok(Target {
                servers: Servers::One(address),
                login,
            }) => Ok((address, login)),
            Ok(_) => unreachable!("a URL of one host names one server"),
            Err(error) => Err(error),
        };
        let nodes: Result<Vec<_>, LockError> = hosts.split(',').map(target).collect();
        let (nodes, mut logins): (Vec<_>, Vec<_>) = nodes?.into_iter().unzip();
        Ok((nodes, logins.swap_remove(0)))
    }

    fn tcp(
        rest: &str,
        tls: impl FnOnce(&str) -> Result<Option<Tls>, LockError>,
    ) -> Result<Target, LockError> {
        // The client library ignores most parameters, and `#insecure` makes it accept any certificate. A password with
        // one of these characters would also be cut there.
        if rest.contains('?') {
            return Err(LockError::invalid_options(
                "a redis:// URL takes the parameters wait_replicas and replica_timeout alone; a `?` in a \
                 password is written %3F",
            ));
        }
        if rest.contains('#') {
            return Err(LockError::invalid_options(
                "a redis:// URL takes nothing after `#`, and certificates are always verified; \
                 a `#` in a password is written %23",
            ));
        }
        let (address, login) = parse_plain(&format!("redis://{rest}"))
            .ok_or("the URL must read redis://[user:password@]host[:port][/database]")
            .map_err(LockError::invalid_options)?;
        let ConnectionAddr::Tcp(host, port) = address else {
            return Err(LockError::invalid_options("the URL must name a host"));
        };
        let tls = tls(&host)?;
        Ok(Target {
            servers: Servers::One(Address::Tcp { host, port, tls }),
            login,
        })
    }

    #[cfg(unix)]
    fn unix(rest: &str) -> Result<Target, LockError> {
        let (path, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
            if !["db", "user", "pass"].contains(&name) {
                return Err(LockError::invalid_options(
                    "a redis+unix:// URL takes the parameters db, user, pass, wait_replicas and replica_timeout alone",
                ));
            }
        }
        // A plus stands for itself, as in a redis:// URL, and not for a space.
        let parameters = parameters.replace('+', "%2B");
        match parse_plain(&format!("redis+unix://{path}?{parameters}")) {
            Some((ConnectionAddr::Unix(path), login)) if !rest.contains('#') => Ok(Target {
                servers: Servers::One(Address::Unix(path)),
                login,
            }),
            _ => Err(LockError::invalid_options(
                "the URL must read redis+unix:///path, and may go on ?db=0&user=…&pass=…",
            )),
        }
    }

    #[cfg(not(unix))]
    fn unix(_rest: &str) -> Result<Target, LockError> {
        Err(LockError::invalid_options(
            "there are no unix sockets on this system",
        ))
    }
}

/// Address and login of a URL without TLS; `None` if it is malformed.
fn parse_plain(url: &str) -> Option<(ConnectionAddr, RedisConnectionInfo)> {
    let info = url.into_connection_info().ok()?;
    let login = resp3(info.redis_settings().clone());
    if login.db() < 0 {
        return None;
    }
    Some((info.addr().clone(), login))
}

fn resp3(login: RedisConnectionInfo) -> RedisConnectionInfo {
    // Pushes need RESP3. CLIENT SETINFO is skipped, since minimal permissions do not allow it.
    let login = login
        .set_protocol(ProtocolVersion::RESP3)
        .set_skip_set_lib_name();
    if login.username().is_some() && login.password().is_none() {
        // Without a password HELLO would not name the user, and the server would log the connection in as its
        // default user.
        return login.set_password("");
    }
    login
}

#[cfg(test)]
mod tests;
