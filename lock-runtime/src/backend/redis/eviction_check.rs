//! Warns about servers that evict locks when their memory is full.
//!
//! If a lock's key is evicted, the lock is free although its holder still relies on it; then only a fencing token
//! helps. One server setting prevents this, so each process logs one warning per server.

use redis::{ErrorKind, ServerErrorKind, Value};

use super::address::Address;
use super::encoder::Argument;
use super::once_per_server::OncePerServer;
use crate::telemetry;

static CHECKED: OncePerServer = OncePerServer::new();

/// Returns the command for the check; `None` if this process has already checked the server. `INFO` is enough. More
/// managed servers allow it than `CONFIG GET`, and to more users.
pub(super) fn command(server: &Address) -> Option<[Argument<'static>; 2]> {
    if CHECKED.contains(&server.to_string()) {
        return None;
    }
    Some([Argument::Text("INFO"), Argument::Text("memory")])
}

/// Logs a warning if the answer names a policy that evicts locks. If the user may not run the command, there is no
/// warning: the check is a courtesy, and locks do not need that permission.
pub(super) fn check(server: &Address, answer: Value) {
    let info = match answer.extract_error() {
        Ok(info) => redis::from_redis_value::<String>(info).unwrap_or_default(),
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm) => String::new(),
        // The server could not answer now. The next connection checks again.
        Err(_) => return,
    };
    if CHECKED.insert(&server.to_string())
        && let Some(policy) = evicting_policy(&info)
    {
        telemetry::locks_may_be_evicted(server, policy);
    }
}

/// Returns the eviction policy; `None` if no keys are evicted. Locks have a ttl, so the `volatile-` policies evict
/// them, too.
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
    fn policy_evicts_locks_only_on_a_server_with_a_memory_limit() {
        let info = |limit: &str, policy: &str| {
            format!(
                "# Memory\r\nused_memory:1\r\nmaxmemory:{limit}\r\nmaxmemory_human:x\r\nmaxmemory_policy:{policy}\r\n"
            )
        };
        for policy in ["allkeys-lru", "volatile-ttl"] {
            assert_eq!(evicting_policy(&info("1000", policy)), Some(policy));
            assert_eq!(evicting_policy(&info("0", policy)), None, "no limit");
        }
        assert_eq!(evicting_policy(&info("1000", "noeviction")), None);
        assert_eq!(evicting_policy(""), None, "no answer");
    }
}
