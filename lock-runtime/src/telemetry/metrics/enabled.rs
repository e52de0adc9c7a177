//! Records metrics, with the feature `metrics`.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

pub(crate) const ENABLED: bool = true;

const ACQUISITIONS: &str = "distributed_lock_acquisitions_total";
const WAIT: &str = "distributed_lock_wait_seconds";
const WAITERS: &str = "distributed_lock_waiters";
const HELD: &str = "distributed_lock_held";
const HOLD: &str = "distributed_lock_hold_seconds";
const RENEWALS: &str = "distributed_lock_renewals_total";
const LOSSES: &str = "distributed_lock_losses_total";
const UNCONFIRMED: &str = "distributed_lock_unconfirmed_releases_total";
const RUNS: &str = "distributed_lock_runs_total";
const RUN: &str = "distributed_lock_run_seconds";
const LAST_SUCCESS: &str = "distributed_lock_last_success_timestamp_seconds";
const ORDER_RINGS: &str = "distributed_lock_order_rings_total";
const CONNECTED: &str = "distributed_lock_connected";
const CONNECTIONS: &str = "distributed_lock_connections_total";

/// Describes the metrics to the recorder.
pub(crate) fn describe() {
    describe_counter!(ACQUISITIONS, "Calls that asked for a lock, by outcome.");
    describe_histogram!(WAIT, Unit::Seconds, "How long calls waited for a lock.");
    describe_gauge!(WAITERS, "Calls that are still acquiring their lock.");
    describe_gauge!(HELD, "Locks that this process holds.");
    describe_histogram!(HOLD, Unit::Seconds, "How long locks were held.");
    describe_counter!(RENEWALS, "Renewals of leases, by outcome.");
    describe_counter!(LOSSES, "Locks lost while they were held, by reason.");
    describe_counter!(UNCONFIRMED, "Releases that were not answered in time.");
    describe_counter!(RUNS, "Runs of calls that record them, by outcome.");
    describe_histogram!(RUN, Unit::Seconds, "How long these runs took.");
    describe_gauge!(
        LAST_SUCCESS,
        Unit::Seconds,
        "When a run was last done, in seconds since 1970."
    );
    describe_counter!(
        ORDER_RINGS,
        "Rings of locks that calls take in opposite orders; each is counted once."
    );
    describe_gauge!(CONNECTED, "Open connections to a server.");
    describe_counter!(
        CONNECTIONS,
        "Connections and attempts to connect, by outcome."
    );
}

pub(crate) fn waiters(template: &'static str, more: f64) {
    gauge!(WAITERS, "template" => template).increment(more);
}

pub(crate) fn acquisition(template: &'static str, outcome: &'static str, waited: Duration) {
    counter!(ACQUISITIONS, "template" => template, "outcome" => outcome).increment(1);
    histogram!(WAIT, "template" => template, "outcome" => outcome).record(waited);
}

pub(crate) fn lease(template: &'static str, outcome: &'static str, held: Duration) {
    histogram!(HOLD, "template" => template, "outcome" => outcome).record(held);
}

pub(crate) fn renewal(template: &'static str, outcome: &'static str) {
    counter!(RENEWALS, "template" => template, "outcome" => outcome).increment(1);
}

pub(crate) fn loss(template: &'static str, reason: &'static str) {
    counter!(LOSSES, "template" => template, "reason" => reason).increment(1);
}

pub(crate) fn unconfirmed_release(template: &'static str) {
    counter!(UNCONFIRMED, "template" => template).increment(1);
}

pub(crate) fn run(template: &'static str, outcome: &'static str, took: Duration) {
    counter!(RUNS, "template" => template, "outcome" => outcome).increment(1);
    histogram!(RUN, "template" => template).record(took);
    if outcome == "done" {
        gauge!(LAST_SUCCESS, "template" => template).set(seconds_since_1970());
    }
}

#[expect(clippy::disallowed_methods, reason = "no lease is counted by it")]
fn seconds_since_1970() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0.0, |now| now.as_secs_f64())
}

pub(crate) fn order_ring(template: &'static str) {
    counter!(ORDER_RINGS, "template" => template).increment(1);
}

/// Adds to the number of held locks, without labels, which would be allocated at each start and end of a hold.
pub(crate) fn held(more: f64) {
    gauge!(HELD).increment(more);
}

pub(crate) fn connected(server: &Arc<str>, more: f64) {
    gauge!(CONNECTED, "server" => server.clone()).increment(more);
}

pub(crate) fn connection(server: &Arc<str>, outcome: &'static str) {
    counter!(CONNECTIONS, "server" => server.clone(), "outcome" => outcome).increment(1);
}
