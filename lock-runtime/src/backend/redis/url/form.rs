//! The forms of URLs, by scheme.

/// The parameter that names a primary.
pub(super) const PRIMARY: &str = "sentinelMasterId";

/// What a URL names, by its scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Server,
    Cluster,
    Sentinels,
    Quorum,
    Socket,
}

impl Form {
    /// The form of a URL with this scheme, and whether its servers are reached over TLS. `None` if no URL has it.
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

    /// The pattern of such a URL.
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

    /// The parameters that such a URL takes.
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
