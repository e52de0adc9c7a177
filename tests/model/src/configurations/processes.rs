//! Processes that end, cannot be reached, or shut down.

use super::configuration;
use crate::configuration::Configuration;
use crate::faults::Fault::{Crash, Renew, Shutdown, Unsubscribe};

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "expiry and hand-off with n waiters dead, half-open until the server notices":
            configuration("crash", &[1, 1, 1], &[(Crash, 2)]) { live: 2 };
        "expiry and hand-off with n waiters unsubscribed; all announcements lost for good":
            configuration("unsubscribed", &[1, 1, 1], &[(Unsubscribe, 2)]) { ttl: 2, live: 2 };
        "a cluster, where an announcement that arrives counts no receiver":
            configuration("uncounted", &[1, 1, 1], &[]) { publish_counts: false };
        "shutdown of callers, holders and local queues": configuration("shutdown", &[2, 1], &[(Shutdown, 1)]);
        "shutdown with a running sync body: it keeps its lease to the end":
            configuration("shutdown, sync", &[1, 1], &[(Shutdown, 1), (Renew, 1)]) { synchronous: true };
    }
}
