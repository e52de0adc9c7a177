//! One owner's way from its first command to its last.

use std::sync::Arc;

use crate::backend::remote::grant_notifier::GrantNotifier;
use crate::backend::wire::QueueEntry;
use crate::backend::wire::outstanding::Outstanding;
use crate::error::LockError;
use crate::key::RecordNames;
use crate::lease::owner_id::OwnerId;

/// An owner that may hold a lock or queue for it, known for as long as this lives. Its commands are
/// sent one after the other, by whoever has the episode; an episode is not let go of before its
/// owner has ended.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) entry: QueueEntry,
    pub(crate) names: RecordNames,
    pub(crate) outstanding: Outstanding,
    notifier: GrantNotifier,
}

impl Owner {
    /// A new owner's.
    pub(crate) fn begin(
        label: &Arc<str>,
        names: &RecordNames,
        notifier: &GrantNotifier,
    ) -> Result<Owner, LockError> {
        Ok(Owner::of(
            notifier.register()?,
            label.clone(),
            names,
            notifier,
        ))
    }

    /// That of an owner that has ended, which is to be ended again.
    pub(crate) fn again(owner_id: OwnerId, names: &RecordNames, notifier: &GrantNotifier) -> Owner {
        notifier.register_again(owner_id);
        let mut owner = Owner::of(owner_id, Arc::default(), names, notifier);
        owner.outstanding.assume_stored();
        owner
    }

    fn of(
        owner_id: OwnerId,
        label: Arc<str>,
        names: &RecordNames,
        notifier: &GrantNotifier,
    ) -> Owner {
        Owner {
            entry: QueueEntry::new(owner_id, label),
            names: names.clone(),
            outstanding: Outstanding::default(),
            notifier: notifier.clone(),
        }
    }

    pub(crate) fn id(&self) -> OwnerId {
        self.entry.owner_id
    }

    /// Completes when a grant for this owner was announced.
    pub(crate) async fn notified(&self) {
        self.notifier.notified(self.entry.owner_id).await;
    }

    /// Whether a holder was called: somebody queues behind it.
    pub(crate) fn has_waiters(&self) -> bool {
        self.notifier.was_notified(self.entry.owner_id)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.notifier
            .unregister(self.entry.owner_id, self.outstanding.may_be_served());
    }
}
