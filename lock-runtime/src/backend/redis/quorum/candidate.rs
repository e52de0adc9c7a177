//! An owner, as the nodes of a quorum see it.

use tokio::sync::Notify;

use super::ballot::Ballot;
use crate::backend::wire::owner::QueueEntry;
use crate::backend::wire::pace::Pace;
use crate::background::sync::Mutex;
use crate::key::{OneOrMore, RecordNames};

/// An owner that asks for the votes of several nodes.
///
/// Shared, because its commands outlive the attempt that sent them: a slow node may answer after the majority.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) entry: QueueEntry,
    pub(crate) names: OneOrMore<RecordNames>,
    pub(crate) ballot: Mutex<Ballot>,
    /// Limits how often the acquisition asks the nodes, over all of its attempts.
    pub(crate) pace: Mutex<Pace>,
    /// Notified when a message comes, or when an unattended command is answered.
    pub(crate) changed: Notify,
}

impl Candidate {
    pub(crate) fn new(
        entry: QueueEntry,
        names: OneOrMore<RecordNames>,
        ballot: Ballot,
    ) -> Candidate {
        Candidate {
            entry,
            names,
            ballot: Mutex::new(ballot),
            pace: Mutex::default(),
            changed: Notify::new(),
        }
    }
}
