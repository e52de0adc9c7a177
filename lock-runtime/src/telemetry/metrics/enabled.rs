//! Records metrics, with the feature `metrics`.

use std::sync::Arc;
use std::time::Duration;

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
