//! What happens to a hold while it is one, and to connections.

use std::fmt;

use super::{metrics, number, safely};
use crate::backend::wire::error::WireError;
use crate::error::LockError;
use crate::lease::{Lease, LossReason};

/// A lock was given back, and the server has not confirmed it; the background goes on asking.
pub(crate) fn release_unconfirmed(lease: &Lease) {
    safely(|| metrics::unconfirmed_release(lease.template));
    lease.trace.scope(|| {
        tracing::warn!(
            target: "lock_runtime",
            template = lease.template,
            token = number(lease.token),
            "release_unconfirmed"
        );
    });
}

/// A lease was renewed.
pub(crate) fn renewed(lease: &Lease) {
    safely(|| metrics::renewal(lease.template, "confirmed"));
}

/// A lease could not be renewed this time; it is asked for again until its deadline. An outage is told
/// a few times and not at every attempt: at the first, the second, the fourth failure and so on.
pub(crate) fn renewal_failed(lease: &Lease, fault: &WireError, failures: u32) {
    safely(|| metrics::renewal(lease.template, "failed"));
    not_renewed(lease, fault, failures);
}

/// A lease is renewed again while an earlier renewal is still under way. That one is counted when it
/// is given up.
pub(crate) fn renewal_overdue(lease: &Lease, failures: u32) {
    not_renewed(lease, &"no answer yet", failures);
}

fn not_renewed(lease: &Lease, fault: &dyn fmt::Display, failures: u32) {
    if !failures.is_power_of_two() {
        return;
    }
    lease.trace.scope(|| {
        tracing::warn!(
            target: "lock_runtime",
            template = lease.template,
            %fault,
            failures = i64::from(failures),
            "renewal_failed"
        );
    });
}

/// A lock was lost while it was held.
pub(crate) fn lost(lease: &Lease, loss: LossReason) {
    safely(|| metrics::loss(lease.template, loss.name()));
    lease.trace.scope(|| {
        tracing::warn!(
            target: "lock_runtime",
            template = lease.template,
            function = lease.function,
            token = number(lease.token),
            reason = loss.describe(),
            "lock_lost"
        );
    });
}

/// A body finished without its lock, as `on_lost = "finish"` lets it, or with an error of its own.
pub(crate) fn finished_without_lock(error: &LockError) {
    safely(|| {
        tracing::warn!(target: "lock_runtime", kind = ?error.kind(), "finished_without_lock");
    });
}

/// A body ended while something that it carried off still shares its hold.
pub(crate) fn hold_outlives_body(lease: &Lease) {
    lease.trace.scope(|| {
        tracing::warn!(
            target: "lock_runtime",
            template = lease.template,
            function = lease.function,
            "hold_outlives_body"
        );
    });
}

/// A connection was torn down, for the how manieth time since one was of use for a while. A server that
/// lets us in and is of no use is told of a few times, as an outage is.
pub(crate) fn connection_dropped(reason: &str, failures: u32) {
    if failures.is_power_of_two() {
        safely(|| {
            tracing::warn!(target: "lock_runtime", reason, failures, "connection_dropped");
        });
    }
}

/// An attempt to connect failed.
pub(crate) fn connection_failed(fault: &WireError) {
    safely(|| {
        tracing::debug!(target: "lock_runtime", %fault, "connection_failed");
    });
}

/// What is sent to a server on another machine can be read on the way.
pub(crate) fn connection_in_the_clear(server: &dyn fmt::Display) {
    safely(|| {
        tracing::warn!(target: "lock_runtime", %server, advice = "use rediss://", "connection_in_the_clear");
    });
}

/// A server may throw locks away to make room.
pub(crate) fn locks_may_be_evicted(server: &dyn fmt::Display, policy: &str) {
    safely(|| {
        let advice = "set maxmemory-policy to noeviction";
        tracing::warn!(target: "lock_runtime", %server, policy, advice, "locks_may_be_evicted");
    });
}

/// The files of certificates could not be used for a new connection; what was read before is.
#[cfg(feature = "tls")]
pub(crate) fn certificates_not_renewed(reason: &str) {
    safely(|| {
        tracing::warn!(target: "lock_runtime", reason, "certificates_not_renewed");
    });
}
