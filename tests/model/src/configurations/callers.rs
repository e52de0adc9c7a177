//! Callers that come, wait, give up and are slow, without any failure.

use super::configuration;
use crate::configuration::Configuration;
use crate::faults::Fault::{GiveUp, Renew, Try};

pub(super) fn all() -> Vec<Configuration> {
    configurations! {
        "poll and hand-off in either order; a claim lapses and is confirmed late; pauses before the hand-over, \
            in mid-poll, and between the body's end and the release; expiry with the head live or stopped":
            configuration("three clients", &[1, 1, 1], &[]);
        "giving up against a grant, stale announcements": configuration("giving up", &[1, 1, 1], &[(GiveUp, 1)]);
        "one local waiter gives up while another stays; hand-off inside a client against a waiter elsewhere":
            configuration("local queue", &[2, 1], &[(GiveUp, 1)]);
        "two local queues compete": configuration("two local queues", &[2, 2], &[]);
        "attempts without a place in the queue": configuration("attempts", &[2, 1], &[(Try, 1)]);
        "renewal, of a whole ttl and of what is left of max_hold":
            configuration("renewal", &[1, 1], &[(Renew, 2)]) { short_renewal: Some(1) };
        "a lease shorter than a claim": configuration("short leases", &[1, 1, 1], &[]) { ttl: 2, claim: 3 };
    }
}
