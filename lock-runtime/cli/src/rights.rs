//! What users of a server need for locks.

use std::fmt::Write as _;

/// What a user is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Role {
    /// Looks at locks
    Viewer,
    /// Looks at locks, and revokes them
    Operator,
    /// Takes locks
    Service,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
            Role::Service => "service",
        }
    }
}

/// What all kinds of servers ask of a service.
const SERVICE: &[&str] = &[
    "ping",
    "subscribe",
    "evalsha",
    "eval",
    "exists",
    "time",
    "get",
    "set",
    "setrange",
    "del",
    "pttl",
    "pexpire",
    "publish",
    "zadd",
    "zcard",
    "zrem",
    "zscore",
    "zcount",
    "zrangebyscore",
    "zrevrange",
    "pexpireat",
    "zremrangebyscore",
];

/// What a viewer sends.
const VIEWER: &[&str] = &[
    "ping",
    "subscribe",
    "multi",
    "exec",
    "time",
    "getrange",
    "strlen",
    "pttl",
    "zcard",
    "zrangebyscore",
    "zmscore",
    "scan",
    "xrange",
];

/// What an operator sends beside that, also by scripts.
const OPERATOR: &[&str] = &[
    "evalsha",
    "eval",
    "get",
    "set",
    "del",
    "pexpire",
    "pexpireat",
    "publish",
    "zadd",
    "zrem",
    "zscore",
    "zrevrange",
    "zremrangebyscore",
    "xadd",
];

/// The commands that a user of this role sends, also by scripts.
pub(crate) fn commands(role: Role) -> Vec<&'static str> {
    match role {
        Role::Viewer => VIEWER.to_vec(),
        Role::Operator => [VIEWER, OPERATOR].concat(),
        Role::Service => SERVICE.to_vec(),
    }
}

/// Where the locks are, as far as rights depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Server,
    Cluster,
    Quorum,
}

impl Kind {
    /// The kind of servers that a URL leads to.
    pub(crate) fn of(url: &str) -> Kind {
        let scheme = url.split("://").next().unwrap_or_default();
        match scheme {
            _ if scheme.contains("cluster") => Kind::Cluster,
            "redlock" | "redlocks" => Kind::Quorum,
            _ => Kind::Server,
        }
    }

    fn more(self, role: Role) -> &'static [&'static str] {
        match (self, role) {
            (Kind::Cluster, _) => &["cluster|slots", "asking"],
            (Kind::Quorum, Role::Service) => &["info", "zrank"],
            (Kind::Quorum, _) => &["info"],
            (Kind::Server, _) => &[],
        }
    }
}

/// The command that makes a user of this role. It asks for the password in a place of its own.
pub(crate) fn line(role: Role, kind: Kind, prefix: &str, user: &str) -> String {
    let mut line = format!(
        "ACL SETUSER {user} reset on >PASSWORD ~{prefix}* ~{{{prefix}* resetchannels &lock:*"
    );
    for command in commands(role).iter().chain(kind.more(role)) {
        // Writing to a string does not fail.
        let _ = write!(line, " +{command}");
    }
    line
}
