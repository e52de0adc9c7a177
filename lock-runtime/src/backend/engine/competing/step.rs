//! The command that a competing call awaits.

use crate::backend::wire::reply::Answered;
use crate::lease::record::Grant;

/// The command whose outcome is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Step {
    Attempts,
    /// The wait for the replicas of this grant.
    AwaitsReplicas(Answered<Grant>),
    ChecksReplicas {
        has_lost: bool,
    },
    Listens,
    GivesBack,
    BeginsAnew,
    /// No command: the call has won.
    Wins(Answered<Grant>),
}
