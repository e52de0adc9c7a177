//! All reports to `tracing` and to `metrics`, in one place.
//!
//! Reports contain the key's *template*, and the key only in logs of a client that enables it: metrics stay few, and a
//! key may contain private data. Owner ids and passwords are never reported. The names of spans, events and metrics are
//! public: `docs/observability.md` lists them all.

mod acquiring;
mod connections;
mod emit;
mod events;
mod lease_trace;
mod metrics;

pub(crate) use acquiring::Acquiring;
#[cfg(feature = "tls")]
pub(crate) use connections::certificates_not_renewed;
pub(crate) use connections::{
    connected, connection_failed, connection_in_the_clear, connection_lost, connections,
    locks_may_be_evicted, server_unfit, slots_moved,
};
pub(crate) use events::{
    clocks_apart, finished_without_lock, hold_outlives_body, lock_order, lock_order_full, lost,
    node_away, node_back, node_clock, node_restarted, release_unconfirmed, renewal_failed,
    renewal_overdue, renewed, run_ended, run_not_recorded,
};
pub(crate) use lease_trace::{CallLabels, LeaseSpan, LeaseTrace};
pub(crate) use metrics::describe;
