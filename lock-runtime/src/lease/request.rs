//! A call's request to a backend.

use std::sync::Arc;
use std::time::Duration;

use crate::key::{Lock, OneOrMore};
use crate::lease::mode::Mode;
use crate::lease::schedule::LeaseTerms;
use crate::telemetry::CallLabels;

/// One outermost acquisition, with every default filled in.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) locks: OneOrMore<Lock>,
    pub(crate) mode: Mode,
    pub(crate) terms: LeaseTerms,
    /// Zero: one attempt, and no queue entry.
    pub(crate) wait: Duration,
    /// Whether the caller wants a fencing token with the lock.
    pub(crate) fenced: bool,
    /// The holder in words, as other clients read it.
    pub(crate) label: Arc<str>,
    pub(crate) labels: CallLabels,
}

impl Request {
    /// The first lock. It is the only one of most requests, and the one of the local queue.
    pub(crate) fn lock(&self) -> &Lock {
        self.locks.first()
    }
}
