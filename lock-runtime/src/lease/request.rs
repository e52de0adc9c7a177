//! A call's request to a backend, and how it asks to hold the lock.

use std::sync::Arc;
use std::time::Duration;

use super::run_record::RunRecord;
use super::share::Share;
use crate::key::{Lock, OneOrMore};
use crate::lease::schedule::LeaseTerms;
use crate::telemetry::CallLabels;

/// One outermost acquisition, with every default filled in.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) locks: OneOrMore<Lock>,
    pub(crate) mode: Mode,
    pub(crate) terms: LeaseTerms,
    /// How long to wait; zero makes one attempt without a queue entry.
    pub(crate) wait: Duration,
    /// Whether the caller wants a fencing token with the lock.
    pub(crate) fenced: bool,
    /// The label of the holder, which other clients read.
    pub(crate) label: Arc<str>,
    pub(crate) labels: CallLabels,
    /// What the call records of its run, if it does.
    pub(crate) run: Option<Arc<RunRecord>>,
}

impl Request {
    /// Returns the first lock: the only lock of most requests, and the lock of the local queue.
    pub(crate) fn lock(&self) -> &Lock {
        self.locks.first()
    }
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By one owner at a time.
    Exclusive,
    /// By one owner at a time; at other times, others share the lock. On a server its release admits all waiting
    /// readers, and its failures report how many share the lock. Otherwise like `Exclusive`.
    Write,
    /// By several owners at a time.
    Share(Share),
}

impl Mode {
    /// Returns the share that the owner takes; `None` if it holds the lock alone.
    pub(crate) fn share(self) -> Option<Share> {
        match self {
            Mode::Exclusive | Mode::Write => None,
            Mode::Share(share) => Some(share),
        }
    }

    /// Returns the mode as one word, for reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Exclusive => "exclusive",
            Mode::Write => "write",
            Mode::Share(share) if share.limit().is_none() => "read",
            Mode::Share(_) => "permits",
        }
    }

    /// Returns the label of a queue entry in this mode: the label of a share begins with its tag.
    pub(crate) fn entry_label(self, label: &Arc<str>) -> Arc<str> {
        match self.share() {
            None => label.clone(),
            Some(share) => format!("{share}{label}").into(),
        }
    }
}
