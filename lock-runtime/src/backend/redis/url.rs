//! URLs of servers.

use redis::{ConnectionAddr, IntoConnectionInfo, ProtocolVersion, RedisConnectionInfo};

use super::address::Address;
use super::tls::{self, Tls};
use crate::config::Options;
use crate::error::LockError;

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
}

impl Target {
    /// Parses one of
    ///
    /// - `redis://[user[:password]@]host[:port][/database]`,
    /// - `rediss://…`, the same over TLS,
    /// - `redis+unix:///path[?db=…&user=…&pass=…]`,
    /// - `redis-cluster://[user[:password]@]host[:port][,host[:port]…][/database]`, and `rediss-cluster://…`.
    ///
    /// User, password and path may be percent-encoded. Errors do not repeat the URL.
    pub(crate) fn parse(url: &str, options: &Options) -> Result<Target, LockError> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let scheme = scheme.to_ascii_lowercase();
        let (is_cluster, scheme) = match scheme.strip_suffix("-cluster") {
            Some(scheme) => (true, scheme),
            None => (false, scheme.as_str()),
        };
        let read = |tls: &dyn Fn(&str) -> Result<Option<Tls>, LockError>| match is_cluster {
            true => Target::cluster(rest, tls),
            false => Target::tcp(rest, tls),
        };
        match scheme {
            "redis" | "valkey" if options.require_tls => Err(LockError::invalid_options(
                "the client requires TLS, and the URL begins with redis:// instead of rediss://",
            )),
            "redis" | "valkey" => {
                tls::refuse_unused(options)?;
                read(&|_| Ok(None))
            }
            "rediss" | "valkeys" => read(&|host| Tls::new(host, options).map(Some)),
            "redis+unix" | "valkey+unix" | "unix" if !is_cluster => Target::unix(rest),
            _ => Err(LockError::invalid_options(
                "the URL must begin with redis://, rediss://, redis-cluster://, redis+unix:// or memory://",
            )),
        }
    }

    fn cluster(
        rest: &str,
        tls: impl Fn(&str) -> Result<Option<Tls>, LockError>,
    ) -> Result<Target, LockError> {
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        // An `@` in a password is percent-encoded.
        let (login, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        let target = |host: &str| match Target::tcp(&format!("{login}{host}{path}"), &tls) {
            Ok(Target {
                servers: Servers::One(address),
                login,
            }) => Ok((address, login)),
            Ok(_) => unreachable!("a URL of one host names one server"),
            Err(error) => Err(error),
        };
        let nodes: Result<Vec<_>, LockError> = hosts.split(',').map(target).collect();
        let (nodes, mut logins): (Vec<_>, Vec<_>) = nodes?.into_iter().unzip();
        Ok(Target {
            servers: Servers::Cluster(nodes),
            login: logins.swap_remove(0),
        })
    }

    fn tcp(
        rest: &str,
        tls: impl FnOnce(&str) -> Result<Option<Tls>, LockError>,
    ) -> Result<Target, LockError> {
        // The client library ignores most parameters, and `#insecure` makes it accept any certificate. A password with
        // one of these characters would also be cut there.
        if rest.contains('?') {
            return Err(LockError::invalid_options(
                "a redis:// URL takes no parameters; a `?` in a password is written %3F",
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
                    "a redis+unix:// URL takes the parameters db, user and pass alone",
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
    // Pushes need RESP3. CLIENT SETINFO is skipped, since minimal permissions do not allow it.
    let mut login = info
        .redis_settings()
        .clone()
        .set_protocol(ProtocolVersion::RESP3)
        .set_skip_set_lib_name();
    if login.db() < 0 {
        return None;
    }
    if login.username().is_some() && login.password().is_none() {
        // Without a password HELLO would not name the user, and the server would log the connection in as its
        // default user.
        login = login.set_password("");
    }
    Some((info.addr().clone(), login))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Target, LockError> {
        Target::parse(url, &Options::default())
    }

    fn addresses(target: &Target) -> Vec<String> {
        match &target.servers {
            Servers::One(address) => vec![address.to_string()],
            Servers::Cluster(nodes) => nodes.iter().map(Address::to_string).collect(),
        }
    }

    fn refusal(url: &str) -> String {
        let error = parse(url).err().expect(url);
        format!("{error} {error:?}")
    }

    #[test]
    fn url_names_host_port_user_and_database() {
        let target = parse("redis://app:s3cret@10.0.0.7:6380/3").unwrap();
        assert_eq!(addresses(&target), ["10.0.0.7:6380"]);
        assert_eq!(target.login.username(), Some("app"));
        assert_eq!(target.login.password(), Some("s3cret"));
        assert_eq!(target.login.db(), 3);
        let target = parse("REDIS://[::1]").unwrap();
        assert_eq!(addresses(&target), ["[::1]:6379"]);
        assert_eq!(
            (target.login.username(), target.login.password()),
            (None, None)
        );
    }

    #[test]
    fn cluster_url_names_some_of_its_nodes() {
        let target =
            parse("redis-cluster://app:s3cr%40t@10.0.0.7:7000,node-b,[::1]:7001/2").unwrap();
        assert!(matches!(target.servers, Servers::Cluster(_)));
        assert_eq!(
            addresses(&target),
            ["10.0.0.7:7000", "node-b:6379", "[::1]:7001"]
        );
        assert_eq!(target.login.password(), Some("s3cr@t"));
        assert_eq!(target.login.db(), 2);
        assert_eq!(
            addresses(&parse("VALKEY-CLUSTER://one").unwrap()),
            ["one:6379"]
        );
    }

    #[test]
    fn user_and_password_are_decoded() {
        let target = parse("redis://a%40b:%23%3F%2F+%25%C3%A9@host").unwrap();
        assert_eq!(target.login.username(), Some("a@b"));
        assert_eq!(target.login.password(), Some("#?/+%é"));
    }

    #[test]
    fn user_without_a_password_is_named_to_the_server() {
        let target = parse("redis://app@host").unwrap();
        assert_eq!(target.login.username(), Some("app"));
        assert_eq!(target.login.password(), Some(""));
    }

    #[cfg(unix)]
    #[test]
    fn unix_url_names_path_user_and_database() {
        let url = "redis+unix:///run/my%20redis.sock?db=2&user=app&pass=a%26b+c";
        let target = parse(url).unwrap();
        assert_eq!(addresses(&target), ["/run/my redis.sock"]);
        assert_eq!(target.login.username(), Some("app"));
        assert_eq!(target.login.password(), Some("a&b+c"));
        assert_eq!(target.login.db(), 2);
    }

    #[test]
    fn malformed_url_is_refused_without_repeating_its_password() {
        for url in [
            "redis://app:s3cret@host:port",
            "http://app:s3cret@host",
            "s3cret",
            "redis://app:s3cret@host/database",
            "redis://app:s3cret@host/-1",
            "redis://app:s3cret@",
            "redis://host?s3cret=1",
            "redis://app:s3cret#@host",
            "rediss://app:s3cret@host#insecure",
            "redis-cluster://app:s3cret@host:port",
            "redis-cluster://app:s3cret@one,,two",
            "redis-cluster://app:s3cret@one,two?x=1",
            "redis+unix-cluster://s3cret",
            "redis+unix://s3cret/run/redis.sock",
            "redis+unix:///run/redis.sock?password=s3cret",
            "redis+unix:///run/redis.sock?pass=s3cret&db=-1",
            "redis+unix:///run/redis.sock?pass=s3cret#",
        ] {
            let error = refusal(url);
            assert!(!error.contains("s3cret"), "{error}");
        }
    }

    #[test]
    fn refusal_names_the_mistake() {
        assert!(refusal("redis://host?timeout=5").contains("no parameters"));
        assert!(refusal("rediss://host#insecure").contains("always verified"));
        assert!(refusal("tcp://host").contains("must begin with redis://"));
    }

    #[cfg(not(feature = "tls"))]
    #[test]
    fn tls_url_without_the_feature_is_refused_by_its_name() {
        assert!(refusal("rediss://host").contains("the feature `tls`"));
    }

    #[test]
    fn plain_tcp_is_refused_for_every_host_if_tls_is_required() {
        let strict = Options {
            require_tls: true,
            ..Options::default()
        };
        for url in ["redis://127.0.0.1", "redis://host", "valkey://host"] {
            let error = Target::parse(url, &strict).err().expect(url);
            assert!(error.to_string().contains("requires TLS"), "{error}");
        }
        #[cfg(unix)]
        assert!(Target::parse("redis+unix:///run/redis.sock", &strict).is_ok());
    }
}
