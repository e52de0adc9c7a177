//! Whether a server may throw locks away when its memory is full.
//!
//! A lock that is evicted is held by nobody and by somebody, and only a fencing token helps then.
//! It is a matter of one setting of the server, so whoever runs it is told, once a process.

use redis::{ErrorKind, ServerErrorKind, Value};

use super::command::Argument;
use super::once_per_server::OncePerServer;
use super::url::Address;
use crate::telemetry;

static LOOKED_AT: OncePerServer = OncePerServer::new();

/// What to ask on the first connection to a server. `INFO` and not `CONFIG GET`: it says all there is to
/// know, and managed servers and careful users allow it rather.
pub(super) fn command(server: &Address) -> Option<[Argument<'static>; 2]> {
    if LOOKED_AT.was_said(&server.to_string()) {
        return None;
    }
    Some([Argument::Text("INFO"), Argument::Text("memory")])
}

/// Warns of a server that answers so. A user who may not even ask is not told: the check is a service,
/// and no right that locks need.
pub(super) fn check(server: &Address, answer: Value) {
    let info = match answer.extract_error() {
        Ok(info) => redis::from_redis_value::<String>(info).unwrap_or_default(),
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm) => String::new(),
        // It could not answer now: the next connection looks again.
        Err(_) => return,
    };
    if LOOKED_AT.first(&server.to_string())
        && let Some(policy) = evicting_policy(&info)
    {
        telemetry::locks_may_be_evicted(server, policy);
    }
}

/// The policy by which keys are evicted; `None` if none are. A lock has a ttl, so that the
/// `volatile-` policies take it as well as the others.
fn evicting_policy(info: &str) -> Option<&str> {
    let field = |name: &str| {
        let mut lines = info.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
    };
    let limit = field("maxmemory")?;
    let policy = field("maxmemory_policy")?;
    (limit != "0" && policy != "noeviction").then_some(policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_server_that_evicts_throws_locks_away() {
        let info = |limit: &str, policy: &str| {
            format!(
                "# Memory\r\nused_memory:1\r\nmaxmemory:{limit}\r\nmaxmemory_human:x\r\nmaxmemory_policy:{policy}\r\n"
            )
        };
        for policy in ["allkeys-lru", "volatile-ttl"] {
            assert_eq!(evicting_policy(&info("1000", policy)), Some(policy));
            assert_eq!(
                evicting_policy(&info("0", policy)),
                None,
                "it is never full"
            );
        }
        assert_eq!(evicting_policy(&info("1000", "noeviction")), None);
        assert_eq!(evicting_policy(""), None, "it does not say");
    }
}
