//! One owner's way from its first command to its last.

use std::sync::Arc;

use crate::backend::remote::grant_notifier::Calls;
use crate::backend::wire::Ticket;
use crate::backend::wire::outstanding::Chain;
use crate::error::LockError;
use crate::key::RecordNames;
use crate::lease::owner_id::Owner;

/// An owner that may hold a lock or queue for it, known for as long as this lives. Its commands are
/// sent one after the other, by whoever has the episode; an episode is not let go of before its
/// owner has ended.
#[derive(Debug)]
pub(crate) struct Episode {
    pub(crate) ticket: Ticket,
    pub(crate) names: RecordNames,
    pub(crate) chain: Chain,
    calls: Calls,
}

impl Episode {
    /// A new owner's.
    pub(crate) fn begin(
        label: &Arc<str>,
        names: &RecordNames,
        calls: &Calls,
    ) -> Result<Episode, LockError> {
        Ok(Episode::of(calls.enlist()?, label.clone(), names, calls))
    }

    /// That of an owner that has ended, which is to be ended again.
    pub(crate) fn again(owner: Owner, names: &RecordNames, calls: &Calls) -> Episode {
        calls.enlist_again(owner);
        let mut episode = Episode::of(owner, Arc::default(), names, calls);
        episode.chain.stands_somehow();
        episode
    }

    fn of(owner: Owner, label: Arc<str>, names: &RecordNames, calls: &Calls) -> Episode {
        Episode {
            ticket: Ticket::new(owner, label),
            names: names.clone(),
            chain: Chain::default(),
            calls: calls.clone(),
        }
    }

    /// Completes when a grant for this owner was announced.
    pub(crate) async fn called(&self) {
        self.calls.called(self.ticket.owner).await;
    }

    /// Whether a holder was called: somebody queues behind it.
    pub(crate) fn is_followed(&self) -> bool {
        self.calls.has_rung(self.ticket.owner)
    }
}

impl Drop for Episode {
    fn drop(&mut self) {
        self.calls
            .forget(self.ticket.owner, self.chain.may_be_served());
    }
}
