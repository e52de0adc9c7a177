//! The rights that users need for locks.

pub(crate) mod commands;

use std::fmt::Write as _;

use lock_runtime::inspect::is_printable;

use self::commands::{
    ON_A_CLUSTER, OPERATOR, OPERATOR_IN_REDISSON, OTHERS_ON_A_QUORUM, SERVICE, SERVICE_IN_REDISSON,
    SERVICE_ON_A_QUORUM, SERVICE_WITH_REPLICAS, VIEWER, VIEWER_IN_REDISSON,
};

/// A user's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Role {
    /// Inspects locks
    Viewer,
    /// Inspects locks, and revokes them
    Operator,
    /// Takes locks
    Service,
}

impl Role {
    pub(crate) const ALL: [Role; 3] = [Role::Service, Role::Operator, Role::Viewer];

    pub(crate) fn with_article(self) -> &'static str {
        match self {
            Role::Viewer => "a viewer",
            Role::Operator => "an operator",
            Role::Service => "a service",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
            Role::Service => "service",
        }
    }
}

/// The commands that a user of this role may send to servers of every kind, such as `+ping`.
pub(crate) fn of_role(role: Role) -> Vec<&'static str> {
    match role {
        Role::Viewer => VIEWER.to_vec(),
        Role::Operator => [VIEWER, OPERATOR].concat(),
        Role::Service => SERVICE.to_vec(),
    }
}

/// The kind of servers, as far as rights depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Server,
    Cluster,
    Quorum,
}

impl Kind {
    /// The kind of servers behind a URL.
    pub(crate) fn of(url: &str) -> Kind {
        let scheme = url.split("://").next().unwrap_or_default();
        match &*scheme.to_ascii_lowercase() {
            scheme if scheme.contains("cluster") => Kind::Cluster,
            "redlock" | "redlocks" => Kind::Quorum,
            _ => Kind::Server,
        }
    }

    fn more(self, role: Role) -> &'static [&'static str] {
        match (self, role) {
            (Kind::Cluster, _) => ON_A_CLUSTER,
            (Kind::Quorum, Role::Service) => SERVICE_ON_A_QUORUM,
            (Kind::Quorum, _) => OTHERS_ON_A_QUORUM,
            (Kind::Server, _) => &[],
        }
    }
}

/// The further commands that a user [of this role](of_role) may send to the servers of this URL.
pub(crate) fn more(url: &str, role: Role) -> Vec<&'static str> {
    let mut more = Kind::of(url).more(role).to_vec();
    if role == Role::Service && waits_for_replicas(url) {
        more.extend(SERVICE_WITH_REPLICAS);
    }
    more
}

/// Returns whether a body starts only once replicas have its lock.
fn waits_for_replicas(url: &str) -> bool {
    let parameters = url.split_once('?').map_or("", |(_, rest)| rest);
    let parameters = parameters.split('#').next().unwrap_or_default();
    let mut values = parameters
        .split('&')
        .filter_map(|parameter| parameter.strip_prefix("wait_replicas="));
    values.any(|count| count != "0")
}

/// The pattern of the names of locks.
pub(crate) fn of_locks(prefix: &str) -> String {
    format!("~{}*", literal(prefix))
}

/// The pattern of the names of the other records of locks.
pub(crate) fn of_records(prefix: &str) -> String {
    format!("~{{{}*", literal(prefix))
}

/// The pattern that matches only this text. Escapes characters with a meaning in patterns.
fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// The pattern of the channels.
pub(crate) const CHANNELS: &str = "&lock:*";

/// Joins patterns. Without a prefix the first matches all keys, and a server accepts no other after it.
fn joined(patterns: &[&str]) -> String {
    if let [all @ "~*", ..] = patterns {
        return (*all).to_owned();
    }
    let patterns = patterns.iter().map(|pattern| quoted(pattern));
    patterns.collect::<Vec<_>>().join(" ")
}

/// A word of a command, as `redis-cli`, an ACL file and the server itself read it. Quotes it only if they, or a terminal, would
/// misread it.
fn quoted(word: &str) -> String {
    let is_odd = |character| matches!(character, '"' | '\'') || !is_printable(character);
    if !word.contains(is_odd) {
        return word.to_owned();
    }
    let mut quoted = "\"".to_owned();
    for character in word.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if is_printable(character) => quoted.push(character),
            _ => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a string does not fail.
                    let _ = write!(quoted, "\\x{byte:02x}");
                }
            }
        }
    }
    quoted + "\""
}

/// The command that creates a user of this role. `PASSWORD` stands for the password.
pub(crate) fn line(role: Role, url: &str, prefix: &str, user: &str) -> String {
    let keys = joined(&[&of_locks(prefix), &of_records(prefix)]);
    let user = quoted(user);
    let mut line = format!("ACL SETUSER {user} reset on >PASSWORD {keys} resetchannels {CHANNELS}");
    for command in of_role(role).iter().chain(&more(url, role)) {
        // Writing to a string does not fail.
        let _ = write!(line, " {command}");
    }
    line
}

/// The same for locks in Redisson's record.
pub(crate) fn line_in_redisson(role: Role, prefix: &str, user: &str) -> String {
    let (locks, records) = (of_locks(prefix), of_records(prefix));
    const FAIR: &str = "~redisson_lock_queue:*";
    // Waiters subscribe to the channel, and releases publish on it.
    let channels = match role {
        Role::Viewer => "",
        Role::Service | Role::Operator => " &redisson_lock__channel:*",
    };
    let (keys, commands) = match role {
        Role::Service => (vec![&*locks, FAIR, &*records], SERVICE_IN_REDISSON.to_vec()),
        Role::Viewer => (vec![&*locks, &*records], VIEWER_IN_REDISSON.to_vec()),
        Role::Operator => (
            vec![&*locks, FAIR, &*records],
            [SERVICE_IN_REDISSON, OPERATOR_IN_REDISSON].concat(),
        ),
    };
    let (keys, commands) = (joined(&keys), commands.join(" "));
    let user = quoted(user);
    format!("ACL SETUSER {user} reset on >PASSWORD {keys} resetchannels{channels} {commands}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_characters_in_a_prefix_are_literal() {
        for (prefix, locks, records) in [
            ("lock:", "~lock:*", "~{lock:*"),
            ("", "~*", "~{*"),
            ("*", r"~\**", r"~{\**"),
            (
                r"a*b?[c^-d]\:",
                r"~a\*b\?\[c^-d\]\\:*",
                r"~{a\*b\?\[c^-d\]\\:*",
            ),
        ] {
            assert_eq!(of_locks(prefix), locks);
            assert_eq!(of_records(prefix), records);
        }
    }

    /// A prefix that begins with a star is not mistaken for none.
    #[test]
    fn line_for_such_a_prefix_has_both_patterns() {
        for line in [
            line(Role::Viewer, "redis://a", "*", "ann"),
            line_in_redisson(Role::Viewer, "*", "ann"),
        ] {
            assert!(line.contains(r" ~\** ~{\** "), "{line}");
        }
    }
}
