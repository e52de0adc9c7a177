//! Reacts to messages, connects and disconnects.
//!
//! # Invariants
//!
//! - A message counts only if it is from the lock's node.
//! - A lease is confirmed when the connection to its lock's node breaks, and when the lock's slot moves.

use std::sync::{Arc, OnceLock, Weak};

use crate::backend::remote::Remote;
use crate::backend::remote::grant_notifier::GrantNotifier;
use crate::backend::remote::{reaper, release, watchdog};
use crate::backend::wire::notice::{Notice, is_notice};
use crate::backend::wire::outstanding::ConnectionId;
use crate::backend::wire::{NodeId, WireEvents};
use crate::control::is_removed;
use crate::error::LockError;
use crate::key::LockName;
use crate::lease::owner_id::{ClientId, OwnerId};
use crate::lease::{LossReason, Mode, RevocationNumber};

/// Handles the events of one client's wire. The wire exists before the [`Remote`], which is set later.
pub(crate) struct EventHandler {
    notifier: GrantNotifier,
    remote: OnceLock<Weak<Remote>>,
}

impl EventHandler {
    pub(crate) fn new(notifier: GrantNotifier) -> EventHandler {
        EventHandler {
            notifier,
            remote: OnceLock::new(),
        }
    }

    /// Delivers events to this remote from now on.
    pub(crate) fn deliver_to(&self, remote: Weak<Remote>) {
        let is_first = self.remote.set(remote).is_ok();
        debug_assert!(is_first, "events go to one client");
    }

    /// Returns `None` before the [`Remote`] is set, and after the client is gone.
    fn remote(&self) -> Option<Arc<Remote>> {
        self.remote.get().and_then(Weak::upgrade)
    }
}

impl WireEvents for EventHandler {
    fn client_ids(&self, node: NodeId) -> Result<Vec<ClientId>, LockError> {
        self.notifier.client_ids(node)
    }

    fn missing_ids(&self, subscribed: &[ClientId]) -> Vec<ClientId> {
        self.notifier.missing_ids(subscribed)
    }

    fn connected(&self, node: NodeId, connection: ConnectionId) {
        let Some(remote) = self.remote() else {
            return;
        };
        self.notifier.connected(node, connection);
        remote.registry().connected();
        remote.wake_watchdog();
        reaper::connected(&remote);
    }

    fn disconnected(
        &self,
        node: NodeId,
        connection: ConnectionId,
        concerns: &dyn Fn(&LockName) -> bool,
    ) {
        let Some(remote) = self.remote() else {
            return;
        };
        self.notifier.disconnected(node, connection);
        confirm_anew(&remote, concerns);
    }

    fn moved(&self, concerns: &dyn Fn(&LockName) -> bool) {
        let Some(remote) = self.remote() else {
            return;
        };
        // Their waiters queue on a node that no longer sends them messages, or that sends them through other nodes.
        self.notifier.notify_waiters();
        confirm_anew(&remote, concerns);
    }

    fn doubted(&self, concerns: &dyn Fn(&LockName) -> bool) {
        if let Some(remote) = self.remote() {
            confirm_anew(&remote, concerns);
        }
    }

    fn message(&self, _channel: &[u8], payload: &[u8]) {
        let Some(remote) = self.remote() else {
            return;
        };
        if is_notice(payload) {
            return revoked(&remote, payload);
        }
        let Some((owner_id, lock)) =
            OwnerId::parse_prefix(payload).zip(payload.get(OwnerId::LEN..))
        else {
            return;
        };
        if !self.notifier.notify(owner_id) {
            let ended = self.notifier.take_just_ended(owner_id);
            let any = is_removed!(owner_of_a_message).then_some(Mode::Exclusive);
            if let Some(mode) = ended.or(any) {
                reaper::end_again(&remote, owner_id, mode, lock);
            }
        }
        // Only after the notification: a holder that is about to retain its lease either has seen it, or has retained
        // the lease, which is found here.
        let retained = remote.registry().retained.remove_owner(owner_id);
        if let Some(entry) = retained {
            release::release_unawaited(&remote, entry);
        }
        remote.watched.ask_now(|name| name.as_bytes() == lock);
    }

    fn released(&self, listener: OwnerId, concerns: &dyn Fn(&LockName) -> bool) {
        self.notifier.notify(listener);
        if let Some(remote) = self.remote() {
            remote.watched.ask_now(concerns);
        }
    }
}

/// Handles the revocation of a lock. A lease on its way to its caller is not among the client's leases yet; its first
/// renewal fails.
fn revoked(remote: &Arc<Remote>, payload: &[u8]) {
    let Some(Notice { owner_id, by }) = Notice::parse(payload) else {
        return;
    };
    let is_held = remote.registry().mode(owner_id).is_some();
    let reason = if is_held {
        LossReason::Revoked(RevocationNumber::of(by))
    } else {
        // The lease may be retained. Then there is no caller to inform.
        LossReason::NotOurs
    };
    watchdog::declare_lost(remote, owner_id, Some(reason));
    remote
        .watched
        .ask_now(|name| payload.ends_with(name.as_bytes()));
}

/// Confirms without delay the leases that the next server may not have.
fn confirm_anew(remote: &Arc<Remote>, concerns: &dyn Fn(&LockName) -> bool) {
    if !is_removed!(renewal_after_a_move) {
        remote.registry().doubt(remote.now(), concerns);
    }
    remote.wake_watchdog();
}
