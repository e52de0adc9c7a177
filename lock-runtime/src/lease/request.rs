//! A call's request to a backend, and how it asks to hold the lock.

use std::sync::Arc;
use std::time::Duration;

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

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By one owner at a time.
    Exclusive,
    /// By one owner at a time, where others share the lock at other times. On a server its end admits all
    /// readers that wait, and its failures say how many share the lock. For the rest it is `Exclusive`.
    Write,
    /// By one owner beside others.
    Share(Share),
}

impl Mode {
    /// What the owner takes beside others; `None` if it holds the lock alone.
    pub(crate) fn share(self) -> Option<Share> {
        match self {
            Mode::Exclusive | Mode::Write => None,
            Mode::Share(share) => Some(share),
        }
    }

    /// The mode in a word, for reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Exclusive => "exclusive",
            Mode::Write => "write",
            Mode::Share(share) if share.limit().is_none() => "read",
            Mode::Share(_) => "permits",
        }
    }

    /// The label of a queue entry in this mode: a share's begins with its tag.
    pub(crate) fn entry_label(self, label: &Arc<str>) -> Arc<str> {
        match self.share() {
            None => label.clone(),
            Some(share) => format!("{share}{label}").into(),
        }
    }
}
