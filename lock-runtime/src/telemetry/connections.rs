//! Events and metrics of connections, each with its server and never with a user or a password.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::emit::{millis, safely};
use super::metrics;

/// Adds this number to the open connections.
pub(crate) fn connections(server: &Arc<str>, more: f64) {
    safely(|| metrics::connected(server, more));
}

/// Reports a new connection. `away` is the time since the last connection ended, if there was one. Connections that
/// always break at once are all counted, but reported only a few times.
pub(crate) fn connected(
    server: &Arc<str>,
    version: Option<&str>,
    attempts: u32,
    away: Option<Duration>,
    is_reported: bool,
) {
    safely(|| metrics::connection(server, "connected"));
    if is_reported {
        safely(|| {
            tracing::info!(
                target: "lock_runtime",
                server = &**server,
                version,
                attempts = i64::from(attempts),
                away_ms = away.map(millis),
                "connected"
            );
        });
    }
}

/// Reports that a connection has ended. `failures` counts such connections since one last worked for a while: a server
/// that accepts connections and then closes them is reported only a few times.
pub(crate) fn connection_lost(server: &Arc<str>, reason: &str, failures: u32) {
    safely(|| metrics::connection(server, "lost"));
    if failures.is_power_of_two() {
        let (server, failures) = (&**server, i64::from(failures));
        safely(|| {
            tracing::warn!(target: "lock_runtime", server, reason, failures, "connection_lost");
        });
    }
}

/// Reports a failed attempt to connect, the last of `failures`. The callers that wait for it get the same text.
pub(crate) fn connection_failed(server: &Arc<str>, fault: &dyn fmt::Display, failures: u32) {
    safely(|| metrics::connection(server, "failed"));
    let (server, failures) = (&**server, i64::from(failures));
    safely(|| {
        tracing::debug!(target: "lock_runtime", server, %fault, failures, "connection_failed");
    });
}

/// Reports a connection that is not used because of the server's kind, such as a replica. `failures` counts as in
/// `connection_lost`.
pub(crate) fn server_unfit(server: &Arc<str>, fault: &dyn fmt::Display, failures: u32) {
    if !failures.is_power_of_two() {
        return connection_failed(server, fault, failures);
    }
    safely(|| metrics::connection(server, "failed"));
    let (server, failures) = (&**server, i64::from(failures));
    safely(|| {
        tracing::warn!(target: "lock_runtime", server, %fault, failures, "connection_failed");
    });
}

/// Reports that slots of a cluster have a new primary, `server`, as after a failover.
pub(crate) fn slots_moved(server: &dyn fmt::Display, from: &dyn fmt::Display, slots: usize) {
    let slots = i64::try_from(slots).unwrap_or(i64::MAX);
    safely(|| {
        tracing::info!(target: "lock_runtime", %server, %from, slots, "slots_moved");
    });
}

/// Reports that commands to a server on another machine are not encrypted.
pub(crate) fn connection_in_the_clear(server: &dyn fmt::Display) {
    safely(|| {
        tracing::warn!(target: "lock_runtime", %server, advice = "use rediss://", "connection_in_the_clear");
    });
}

/// Reports that a server may evict locks when its memory is full.
pub(crate) fn locks_may_be_evicted(server: &dyn fmt::Display, policy: &str) {
    safely(|| {
        let advice = "set maxmemory-policy to noeviction";
        tracing::warn!(target: "lock_runtime", %server, policy, advice, "locks_may_be_evicted");
    });
}

/// Reports that the certificate files could not be used for a new connection, so their last usable contents are.
#[cfg(feature = "tls")]
pub(crate) fn certificates_not_renewed(reason: &str) {
    safely(|| {
        tracing::warn!(target: "lock_runtime", reason, "certificates_not_renewed");
    });
}
