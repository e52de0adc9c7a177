//! What a call asks a backend for.

use std::sync::Arc;
use std::time::Duration;

use crate::key::{LockKey, RecordNames};
use crate::lease::schedule::LeaseTerms;

/// One outermost acquisition, with every default filled in.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) key: LockKey,
    pub(crate) names: RecordNames,
    pub(crate) terms: LeaseTerms,
    /// Zero: one attempt, and no queue entry.
    pub(crate) wait: Duration,
    /// The holder in words, as other clients read it.
    pub(crate) label: Arc<str>,
    pub(crate) function: &'static str,
    pub(crate) template: &'static str,
}
