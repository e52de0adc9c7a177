//! Processes that end, cannot be reached, or shut down.

use super::configuration;
use crate::configuration::Configuration;
use crate::faults::Fault::{Crash, Renew, Shutdown, Unsubscribe};

pub(super) fn all() -> Vec<Configuration> {
    vec![
        Configuration {
            about: "expiry and hand-off with n waiters dead, half-open until the server notices",
            live: 2,
            ..configuration("crash", &[1, 1, 1], &[(Crash, 2)])
        },
        Configuration {
            about: "expiry and hand-off with n waiters unsubscribed; all announcements lost for good",
            ttl: 2,
            live: 2,
            ..configuration("unsubscribed", &[1, 1, 1], &[(Unsubscribe, 2)])
        },
        Configuration {
            about: "a cluster, where an announcement that arrives counts no receiver",
            publish_counts: false,
            ..configuration("uncounted", &[1, 1, 1], &[])
        },
        Configuration {
            about: "shutdown of callers, holders and local queues",
            ..configuration("shutdown", &[2, 1], &[(Shutdown, 1)])
        },
        Configuration {
            about: "shutdown with a running sync body: it keeps its lease to the end",
            synchronous: true,
            ..configuration("shutdown, sync", &[1, 1], &[(Shutdown, 1), (Renew, 1)])
        },
    ]
}
