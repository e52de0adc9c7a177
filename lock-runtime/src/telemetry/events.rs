//! Events of leases and of a quorum's nodes.

use std::fmt;
use std::time::Duration;

use super::emit::{millis, safely};
use super::lease_trace::CallLabels;
use super::lease_trace::LeaseTrace;
use super::metrics;
use crate::error::LockError;

/// Reports a release that the server has not confirmed; the background retries it.
pub(crate) fn release_unconfirmed(lease: &LeaseTrace) {
    safely(|| metrics::unconfirmed_release(lease.labels.template));
    lease.scope(|| {
        tracing::warn!(
            target: "lock_runtime",
            template = lease.labels.template,
            key = lease.labels.key(),
            token = lease.token_field(),
            "release_unconfirmed"
        );
    });
}

/// Reports a renewal.
pub(crate) fn renewed(lease: &LeaseTrace) {
    safely(|| metrics::renewal(lease.labels.template, "confirmed"));
}

/// Reports a failed renewal, which is retried until the deadline. An outage is reported a few times, not at every
/// attempt: at the first, the second, the fourth failure and so on.
pub(crate) fn renewal_failed(lease: &LeaseTrace, fault: &dyn fmt::Display, failures: u32) {
    safely(|| metrics::renewal(lease.labels.template, "failed"));
    not_renewed(lease, fault, failures);
}

/// Reports that a lease is renewed again while an earlier renewal is unanswered. The earlier renewal is counted when it
/// is given up.
pub(crate) fn renewal_overdue(lease: &LeaseTrace, failures: u32) {
    not_renewed(lease, &"no answer yet", failures);
}

fn not_renewed(lease: &LeaseTrace, fault: &dyn fmt::Display, failures: u32) {
    if !failures.is_power_of_two() {
        return;
    }
    lease.scope(|| {
        tracing::warn!(
            target: "lock_runtime",
            template = lease.labels.template,
            key = lease.labels.key(),
            %fault,
            failures = i64::from(failures),
            "renewal_failed"
        );
    });
}

/// Reports that a lock was lost while it was held.
///
/// `reason` is the label of metrics, `description` the text of the event.
pub(crate) fn lost(lease: &LeaseTrace, reason: &'static str, description: &str) {
    safely(|| metrics::loss(lease.labels.template, reason));
    lease.scope(|| {
        tracing::warn!(
            target: "lock_runtime",
            template = lease.labels.template,
            function = lease.labels.function,
            key = lease.labels.key(),
            token = lease.token_field(),
            reason = description,
            "lock_lost"
        );
    });
}

/// Reports that a body finished without its lock, as `on_lost = "finish"` allows, or with an error of its own.
pub(crate) fn finished_without_lock(labels: &CallLabels, error: &LockError) {
    safely(|| {
        tracing::warn!(
            target: "lock_runtime",
            template = labels.template,
            function = labels.function,
            key = labels.key(),
            kind = ?error.kind(),
            "finished_without_lock"
        );
    });
}

/// Reports that a body ended while a future that carries its call tree still shares the lease.
pub(crate) fn hold_outlives_body(lease: &LeaseTrace) {
    lease.scope(|| {
        tracing::warn!(
            target: "lock_runtime",
            template = lease.labels.template,
            function = lease.labels.function,
            key = lease.labels.key(),
            "hold_outlives_body"
        );
    });
}

/// Reports that an entry of a run history was not written.
pub(crate) fn run_not_recorded(labels: &CallLabels, fault: &dyn fmt::Display) {
    safely(|| {
        tracing::warn!(
            target: "lock_runtime",
            template = labels.template,
            key = labels.key(),
            %fault,
            "run_not_recorded"
        );
    });
}

/// Counts a run, and its length.
pub(crate) fn run_ended(labels: &CallLabels, outcome: &'static str, took: Duration) {
    safely(|| metrics::run(labels.template, outcome, took));
}

/// Reports that calls take locks in a ring, each holding one and waiting for the next. `template` is the template of
/// the call that closed the ring.
pub(crate) fn lock_order(template: &'static str, ring: &str, calls: &str, advice: &str) {
    safely(|| metrics::order_ring(template));
    safely(|| {
        tracing::warn!(target: "lock_runtime", template, ring, calls, advice, "lock_order");
    });
}

/// Reports that a bound of the remembered lock order was reached.
pub(crate) fn lock_order_full(bound: &dyn fmt::Display, advice: &str) {
    safely(|| {
        tracing::warn!(target: "lock_runtime", %bound, advice, "lock_order_full");
    });
}

/// Reports that a quorum node no longer answers.
pub(crate) fn node_away(server: &str, fault: &str) {
    safely(|| {
        tracing::warn!(target: "lock_runtime", server, fault, "node_away");
    });
}

/// Reports that a quorum node answers again.
pub(crate) fn node_back(server: &str) {
    safely(|| {
        tracing::info!(target: "lock_runtime", server, "node_back");
    });
}

/// Reports that a quorum node was restarted and may have lost locks.
pub(crate) fn node_restarted(server: &dyn fmt::Display) {
    safely(|| {
        tracing::warn!(target: "lock_runtime", %server, "node_restarted");
    });
}

/// Reports that a quorum node's clock is so far off that its votes do not count.
pub(crate) fn node_clock(server: &str, off: Duration) {
    safely(|| {
        let advice = "synchronise the clocks of the nodes";
        tracing::warn!(target: "lock_runtime", server, off_ms = millis(off), advice, "node_clock");
    });
}

/// Reports that the clocks of two quorum nodes are far apart. `server` is the node that is off, judging by the others.
pub(crate) fn clocks_apart(server: &str, other: &str, apart: Duration) {
    safely(|| {
        let advice = "synchronise the clocks of the nodes";
        tracing::warn!(target: "lock_runtime", server, other, off_ms = millis(apart), advice, "clocks_apart");
    });
}
