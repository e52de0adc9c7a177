//! HELLO: logs in, and refuses servers that cannot keep locks.

mod said;

use redis::Value;

use self::said::{Mode, Role, field, plain};
use super::address::Address;
use super::encoder::{self, Argument};
use super::login::CurrentLogin;
use super::shortcut::Deletion;
use crate::backend::wire::error::WireError;

/// The versions of Redis that know this command but not all other commands of the scripts. A server that knows it and
/// reports an older version is not Redis, and reports a version that it is compatible with: Kvrocks reports `redis
/// 4.0.0`. Only its commands matter, and the scripts try those.
const TOO_OLD: std::ops::Range<(u32, u32)> = (6, 0)..(6, 2);

/// The kind of server that a URL selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerMode {
    /// A server that has all locks.
    Standalone,
    /// A node of a cluster, a primary or a replica: both know which node has which lock.
    ClusterNode,
    /// The server that sentinels name as the primary. It has all locks.
    Primary,
    /// A node of a quorum: an independent server.
    QuorumNode,
    /// A Sentinel, which knows the name of the primary.
    Sentinel,
}

/// Appends the command, which every user may run.
pub(super) fn write(output: &mut Vec<u8>, login: &CurrentLogin<'_>) {
    let mut words = vec![Argument::Text("HELLO"), Argument::Number(3)];
    if let Some(password) = login.password() {
        let user = login.user().unwrap_or("default");
        words.extend(["AUTH", user, password].map(Argument::Text));
    }
    if let Some(name) = login.name() {
        words.extend(["SETNAME", name].map(Argument::Text));
    }
    encoder::write(output, &words);
}

/// Checks, from the answer, that the server can keep locks. Returns the server's compare-and-delete command, if it has
/// one.
///
/// A missing field is no reason to refuse a server, since there are others than Redis and Valkey.
pub(super) fn check(
    server: &Address,
    expected: ServerMode,
    answer: &Value,
) -> Result<Option<Deletion>, WireError> {
    let field = |name| field(answer, name);
    let (mode, role) = (Mode::of(server, answer)?, Role::of(server, answer)?);
    match (expected, mode, role) {
        (ServerMode::Sentinel, Some(Mode::Sentinel) | None, _) => {}
        (ServerMode::Sentinel, Some(Mode::Cluster), _) => {
            return Err(WireError::refused(format!(
                "{server} is no Sentinel but a node of a cluster; the URL must begin with \
                 redis-cluster://"
            )));
        }
        (ServerMode::Sentinel, Some(Mode::Standalone), _) => {
            return Err(WireError::refused(format!(
                "{server} is no Sentinel; the URL must begin with redis://, or name the sentinels"
            )));
        }
        (_, Some(Mode::Sentinel), _) => {
            return Err(WireError::refused(format!(
                "{server} is a Sentinel, which keeps no locks; the URL must begin with \
                 redis-sentinel:// and end with # and the name of the primary"
            )));
        }
        (ServerMode::Standalone | ServerMode::Primary, Some(Mode::Cluster), _) => {
            return Err(WireError::refused(format!(
                "{server} is a node of a cluster, which divides its keys among its nodes; the URL must \
                 begin with redis-cluster://"
            )));
        }
        (ServerMode::QuorumNode, Some(Mode::Cluster), _) => {
            return Err(WireError::refused(format!(
                "{server} is a node of a cluster; each node of a quorum must be a server of its own"
            )));
        }
        (ServerMode::ClusterNode, Some(Mode::Standalone), _) => {
            return Err(WireError::refused(format!(
                "{server} is no node of a cluster; the URL must begin with redis://"
            )));
        }
        // Unavailable rather than refused, since its primary may come back under this name.
        (ServerMode::QuorumNode, _, Some(Role::Replica)) => {
            return Err(WireError::unavailable(format!(
                "{server} is a replica; the URL must name its primary"
            )));
        }
        // Unavailable rather than refused, since a replica may be promoted, and the name may lead to another server
        // later.
        (ServerMode::Standalone, _, Some(Role::Replica)) => {
            return Err(WireError::unavailable(format!(
                "{server} is a replica; the URL must name its primary, best by a name that follows a \
                 failover"
            )));
        }
        // The answer is as good as the answer to ROLE, since the server takes both from the same field. It needs
        // neither a permission nor a round trip.
        (ServerMode::Primary, _, Some(Role::Replica)) => {
            return Err(WireError::unavailable(format!(
                "{server} is a replica, although the sentinels name it as the primary"
            )));
        }
        (ServerMode::ClusterNode, _, _) | (_, _, Some(Role::Primary) | None) => {}
    }
    let (Some(name), Some(version_text)) = (field("server"), field("version")) else {
        return Ok(None);
    };
    let Some(version) = major_and_minor(version_text) else {
        return Ok(None);
    };
    if name.eq_ignore_ascii_case("redis") && TOO_OLD.contains(&version) {
        let version = plain(version_text);
        return Err(WireError::refused(format!(
            "{server} is Redis {version}; Redis 6.2 or Valkey is needed"
        )));
    }
    Ok(Deletion::of_server(name, version))
}

/// Appends the command whose answer names a replica's primary.
pub(super) fn ask_role(output: &mut Vec<u8>) {
    encoder::write(output, &[Argument::Text("ROLE")]);
}

/// Adds a replica's primary to its error, according to its answer to ROLE.
pub(super) fn with_primary(error: WireError, role: Option<Value>) -> WireError {
    match role.as_ref().and_then(said::primary) {
        Some(primary) => WireError::unavailable(format!("{error}. It follows {primary}")),
        None => error,
    }
}

/// Returns the server's name and version for reports, such as `redis 7.0.15`: at most 64 plain characters.
pub(super) fn version(answer: &Value) -> Option<String> {
    let version = format!("{} {}", field(answer, "server")?, field(answer, "version")?);
    Some(plain(&version))
}

fn major_and_minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.');
    let mut number = || numbers.next()?.parse().ok();
    Some((number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_fields(fields: &[(&str, &str)]) -> Result<Option<Deletion>, WireError> {
        check_as(ServerMode::Standalone, fields)
    }

    fn check_as(
        expected: ServerMode,
        fields: &[(&str, &str)],
    ) -> Result<Option<Deletion>, WireError> {
        let server = Address::Tcp {
            host: "redis.example".to_owned(),
            port: 6379,
            tls: None,
        };
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let mut map = vec![(text("proto"), Value::Int(3))];
        map.extend(fields.iter().map(|(key, value)| (text(key), text(value))));
        map.push((text("modules"), Value::Array(Vec::new())));
        check(&server, expected, &Value::Map(map))
    }

    #[test]
    fn primary_outside_of_a_cluster_is_accepted() {
        for version in [
            "6.2.0",
            "6.2.14",
            "7.0.15",
            "10.0.1",
            "255.255.255",
            "unstable",
        ] {
            let fields = [
                ("server", "redis"),
                ("version", version),
                ("mode", "standalone"),
            ];
            assert!(check_fields(&fields).is_ok(), "{version}");
        }
        let valkey = [
            ("server", "valkey"),
            ("version", "1.0.0"),
            ("role", "master"),
        ];
        assert!(check_fields(&valkey).is_ok());
        assert!(check_fields(&[]).is_ok(), "no fields");
        let none = Value::SimpleString("OK".to_owned());
        assert!(
            check(
                &Address::Unix("/run/redis.sock".into()),
                ServerMode::Standalone,
                &none
            )
            .is_ok()
        );
    }

    #[test]
    fn deletion_depends_on_the_version_of_the_server() {
        for (name, version, expected) in [
            ("redis", "7.0.15", None),
            ("redis", "8.4.0", Some(Deletion::DelEx)),
            ("valkey", "8.1.1", None),
            ("valkey", "9.1.2", Some(Deletion::DelIfEq)),
            ("valkey", "unstable", None),
        ] {
            let fields = [("server", name), ("version", version)];
            assert_eq!(check_fields(&fields).unwrap(), expected, "{name} {version}");
        }
    }

    #[test]
    fn version_is_plain_and_short() {
        let text = |text: &str| Value::SimpleString(text.to_owned());
        let of = |version: &str| {
            let fields = [("server", "valkey"), ("version", version)];
            let fields = fields.map(|(name, value)| (text(name), text(value)));
            super::version(&Value::Map(fields.to_vec()))
        };
        assert_eq!(of("8.1.1").as_deref(), Some("valkey 8.1.1"));
        assert_eq!(of("8\r\n\u{1b}[31m").as_deref(), Some("valkey 8[31m"));
        assert_eq!(of(&"9".repeat(1000)).map(|all| all.len()), Some(64));
        assert_eq!(super::version(&Value::Nil), None);
    }

    #[test]
    fn server_that_is_too_old_is_refused() {
        for (name, version, shown) in [
            ("redis", "6.0.16", "6.0.16"),
            ("redis", "6.1.240", "6.1.240"),
            ("Redis", "6.0.1\u{1b}[2J", "6.0.1[2J"),
        ] {
            let refused = check_fields(&[("server", name), ("version", version)]).unwrap_err();
            let WireError::Refused(text) = refused else {
                panic!("{version} is unavailable")
            };
            let expected =
                format!("redis.example:6379 is Redis {shown}; Redis 6.2 or Valkey is needed");
            assert_eq!(text.to_string(), expected);
        }
    }

    /// HELLO came with Redis 6.0, so none of these servers is Redis.
    #[test]
    fn service_that_names_the_redis_that_it_is_like_is_accepted() {
        for (name, version) in [
            ("redis", "4.0.0"),
            ("Redis", "4.0.0"),
            ("redis", "v4.0.0"),
            ("redis", "5.9.103"),
            ("kvrocks", "2.11.0"),
            ("keydb", "6.0.16"),
        ] {
            let fields = [("server", name), ("version", version)];
            assert_eq!(check_fields(&fields).unwrap(), None, "{name} {version}");
        }
    }

    #[test]
    fn sentinel_and_cluster_are_refused_and_replica_is_unavailable() {
        for (fields, words) in [
            (&[("mode", "sentinel")][..], "is a Sentinel"),
            (
                &[("mode", "cluster"), ("role", "master")],
                "node of a cluster",
            ),
            (
                &[("mode", "cluster"), ("role", "replica")],
                "node of a cluster",
            ),
        ] {
            let WireError::Refused(text) = check_fields(fields).unwrap_err() else {
                panic!("{words}: unavailable")
            };
            assert!(text.to_string().contains(words), "{text}");
        }
        let replica = check_fields(&[("mode", "standalone"), ("role", "replica")]).unwrap_err();
        let WireError::Unavailable(text) = replica else {
            panic!("a replica is refused")
        };
        assert!(
            text.to_string()
                .starts_with("redis.example:6379 is a replica; "),
            "{text}"
        );
    }

    #[test]
    fn node_of_a_cluster_is_a_primary_or_a_replica() {
        let check = |mode: &str, role: &str| {
            let fields = [("mode", mode), ("role", role)];
            check_as(ServerMode::ClusterNode, &fields)
        };
        assert!(check("cluster", "master").is_ok());
        assert!(check("cluster", "replica").is_ok());
        assert!(check_as(ServerMode::ClusterNode, &[]).is_ok(), "no fields");
        for (mode, words) in [
            ("standalone", "must begin with redis://"),
            ("sentinel", "is a Sentinel"),
        ] {
            let WireError::Refused(text) = check(mode, "master").unwrap_err() else {
                panic!("{mode}: unavailable")
            };
            assert!(text.to_string().contains(words), "{text}");
        }
    }

    #[test]
    fn primary_that_sentinels_name_is_not_a_replica() {
        let check = |fields: &[(&str, &str)]| check_as(ServerMode::Primary, fields);
        assert!(check(&[("mode", "standalone"), ("role", "master")]).is_ok());
        for role in ["replica", "slave"] {
            let refused = check(&[("mode", "standalone"), ("role", role)]).unwrap_err();
            let WireError::Unavailable(text) = refused else {
                panic!("{role} is refused, and may be promoted")
            };
            assert!(text.to_string().contains("the sentinels name it"), "{text}");
        }
    }

    #[test]
    fn each_mode_and_role_is_accepted_refused_or_unavailable() {
        use ServerMode::{ClusterNode, Primary, QuorumNode, Sentinel, Standalone};
        const FITS: &str = "fits";
        const REFUSED: &str = "refused";
        const AWAY: &str = "unavailable";
        let outcome = |expected, fields: &[(&str, &str)]| match check_as(expected, fields) {
            Ok(_) => FITS,
            Err(WireError::Refused(_)) => REFUSED,
            Err(WireError::Unavailable(_)) => AWAY,
        };
        let all = [Standalone, Primary, QuorumNode, ClusterNode, Sentinel];
        for (mode, outcomes) in [
            ("standalone", [FITS, FITS, FITS, REFUSED, REFUSED]),
            ("cluster", [REFUSED, REFUSED, REFUSED, FITS, REFUSED]),
            ("sentinel", [REFUSED, REFUSED, REFUSED, REFUSED, FITS]),
            ("proxy", [REFUSED; 5]),
        ] {
            for (expected, outcome_is) in all.into_iter().zip(outcomes) {
                let found = outcome(expected, &[("mode", mode), ("role", "master")]);
                assert_eq!(found, outcome_is, "{expected:?} in mode {mode:?}");
            }
        }
        for (role, outcomes) in [
            ("master", [FITS; 5]),
            ("replica", [AWAY, AWAY, AWAY, FITS, FITS]),
            ("active-replica", [REFUSED; 5]),
        ] {
            for (expected, outcome_is) in all.into_iter().zip(outcomes) {
                let found = outcome(expected, &[("role", role)]);
                assert_eq!(found, outcome_is, "{expected:?} as {role:?}");
            }
        }
        for expected in all {
            assert_eq!(outcome(expected, &[]), FITS, "{expected:?} without fields");
        }
    }

    #[test]
    fn sentinel_is_expected_for_a_sentinel_url() {
        let check = |mode: &str| check_as(ServerMode::Sentinel, &[("mode", mode)]);
        assert!(check("sentinel").is_ok());
        for (mode, words) in [
            (
                "standalone",
                "is no Sentinel; the URL must begin with redis://",
            ),
            ("cluster", "must begin with redis-cluster://"),
        ] {
            let WireError::Refused(text) = check(mode).unwrap_err() else {
                panic!("{mode}: unavailable")
            };
            assert!(text.to_string().contains(words), "{text}");
        }
    }
}
