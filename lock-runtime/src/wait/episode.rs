//! One owner's way from its first command to its last.

use std::sync::Arc;

use crate::backend::chain::Chain;
use crate::backend::wire::Ticket;
use crate::model::key::RecordNames;
use crate::model::owner::Owner;
use crate::wait::calls::{Calls, Registration};

/// An owner that may hold a lock or queue for it. Its commands are sent one after the other, by
/// whoever has the episode; an episode is not let go of before its owner has ended.
#[derive(Debug)]
pub(crate) struct Episode {
    pub(crate) ticket: Ticket,
    pub(crate) names: Arc<RecordNames>,
    pub(crate) chain: Chain,
    registration: Registration,
}

impl Episode {
    pub(crate) fn new(
        owner: Owner,
        label: &str,
        names: &Arc<RecordNames>,
        calls: &Calls,
    ) -> Episode {
        Episode {
            ticket: Ticket::new(owner, label),
            names: names.clone(),
            chain: Chain::default(),
            registration: calls.register(owner),
        }
    }

    /// Completes when a grant for this owner was announced.
    pub(crate) async fn called(&self) {
        self.registration.called().await;
    }
}
