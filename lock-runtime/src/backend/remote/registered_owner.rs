//! An owner, from its first command to its last.
//!
//! # Invariants
//!
//! - An owner id is random, and new for every acquisition.
//! - An owner asks for one ttl all its life: each acquire *sets* the lease, however late it arrives.
//! - Only the task that has an owner sends its acquires and ends.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::backend::engine::handoff::Owned;
use crate::backend::remote::grant_notifier::GrantNotifier;
use crate::backend::wire::outstanding::Outstanding;
use crate::backend::wire::owner::Owner;
use crate::error::LockError;
use crate::key::{OneOrMore, RecordNames};
use crate::lease::Mode;
use crate::lease::owner_id::OwnerId;

/// An owner that may hold a lock or queue for it. Messages about grants reach it as long as this lives.
///
/// This lives until the owner has ended. Only the task that has it sends the owner's commands.
#[derive(Debug)]
pub(crate) struct RegisteredOwner {
    owner: Owner,
    notifier: GrantNotifier,
}

impl RegisteredOwner {
    /// Creates a new owner, and registers it for messages before it sends a command.
    pub(crate) fn new(
        label: &Arc<str>,
        names: OneOrMore<RecordNames>,
        mode: Mode,
        notifier: &GrantNotifier,
    ) -> Result<RegisteredOwner, LockError> {
        let owner_id = notifier.register()?;
        Ok(RegisteredOwner {
            owner: Owner::new(owner_id, label, names, mode),
            notifier: notifier.clone(),
        })
    }

    /// Creates an owner that has ended and must be ended once more.
    pub(crate) fn ended_before(
        owner_id: OwnerId,
        names: RecordNames,
        mode: Mode,
        notifier: &GrantNotifier,
    ) -> RegisteredOwner {
        notifier.register_again(owner_id);
        let mut owner = Owner::new(owner_id, &Arc::default(), names.into(), mode);
        owner.outstanding.assume_stored();
        RegisteredOwner {
            owner,
            notifier: notifier.clone(),
        }
    }

    /// Completes when a message announces a grant for this owner.
    pub(crate) async fn notified(&self) {
        self.notifier.notified(self.owner.id()).await;
    }

    /// For the holder of a lock: returns whether a message has come, which means that a waiter queues behind it.
    pub(crate) fn has_waiters(&self) -> bool {
        self.notifier.was_notified(self.owner.id())
    }
}

impl Owned for RegisteredOwner {
    fn outstanding(&self) -> &Outstanding {
        &self.owner.outstanding
    }

    fn outstanding_mut(&mut self) -> &mut Outstanding {
        &mut self.owner.outstanding
    }
}

impl Deref for RegisteredOwner {
    type Target = Owner;

    fn deref(&self) -> &Owner {
        &self.owner
    }
}

impl DerefMut for RegisteredOwner {
    fn deref_mut(&mut self) -> &mut Owner {
        &mut self.owner
    }
}

impl Drop for RegisteredOwner {
    fn drop(&mut self) {
        let may_be_granted = self
            .owner
            .outstanding
            .may_be_granted()
            .then_some(self.owner.mode);
        self.notifier.unregister(self.owner.id(), may_be_granted);
    }
}
