//! The forms of URLs, by scheme.

/// The parameter that names a primary.
pub(super) const PRIMARY: &str = "sentinelMasterId";

/// The topology that a URL's scheme selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Server,
    Cluster,
    Sentinels,
    Quorum,
    Socket,
}

impl Form {
    /// Returns the form of URLs with this scheme, and whether their servers are reached over TLS; `None` for an unknown
    /// scheme.
    pub(super) fn of_scheme(scheme: &str) -> Option<(Form, bool)> {
        let scheme = scheme.to_ascii_lowercase();
        let (servers, kind) = match scheme.split_once('-') {
            Some((servers, kind)) => (servers, Some(kind)),
            None => (&*scheme, None),
        };
        let is_encrypted = match servers {
            "redis" | "valkey" => false,
            "rediss" | "valkeys" => true,
            "redlock" | "redlocks" if kind.is_none() => {
                return Some((Form::Quorum, servers == "redlocks"));
            }
            "redis+unix" | "valkey+unix" | "unix" if kind.is_none() => {
                return Some((Form::Socket, false));
            }
            _ => return None,
        };
        let form = match kind {
            None => Form::Server,
            Some("cluster") => Form::Cluster,
            Some("sentinel") => Form::Sentinels,
            Some(_) => return None,
        };
        Some((form, is_encrypted))
    }

    /// Returns the pattern of such a URL.
    pub(super) fn pattern(self) -> &'static str {
        match self {
            Form::Server => "redis://[user:password@]host[:port][/database]",
            Form::Cluster => {
                "redis-cluster://[user:password@]host[:port][,host[:port]…][/database]"
            }
            Form::Sentinels => {
                "redis-sentinel://[user:password@]host[:port][,host[:port]…][/database]#name"
            }
            Form::Quorum => {
                "redlock://[user:password@]host[:port],host[:port],host[:port][/database]"
            }
            Form::Socket => "redis+unix:///path[?db=0&user=…&pass=…]",
        }
    }

    /// Returns the parameters that such a URL may have.
    pub(super) fn parameters(self) -> &'static [&'static str] {
        match self {
            Form::Server | Form::Cluster => &["wait_replicas", "replica_timeout"],
            Form::Sentinels => &[
                PRIMARY,
                "sentinel_user",
                "sentinel_password",
                "sentinel_tls",
                "wait_replicas",
                "replica_timeout",
            ],
            Form::Quorum => &["restart_delay"],
            Form::Socket => &["db", "user", "pass", "wait_replicas", "replica_timeout"],
        }
    }
}
