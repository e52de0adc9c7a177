//! Delivers grant messages to the owners of a client.
//!
//! A message is a hint, and may be wrong or forged. It can wake a waiter, end a retained lease, or once more end an
//! owner of this client that ended recently. It never ends an owner of another client.
//!
//! # Invariants
//!
//! - An owner is registered before its first command and until its last.
//! - A message wakes the owner that it names, or ends that owner's retained lease. An owner that ended less than 10 s
//!   ago is ended again, if it is one of this client's last 1024 that may have queued. A message never ends any other
//!   owner.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, MutexGuard};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use foldhash::HashMap;

use crate::backend::remote::client_ids::ClientIds;
use crate::backend::wire::NodeId;
use crate::backend::wire::outstanding::ConnectionId;
use crate::background::fork::Origin;
use crate::background::random;
use crate::background::sync::Mutex;
use crate::error::LockError;
use crate::lease::Mode;
use crate::lease::owner_id::{AcquisitionId, ClientId, OwnerId};

/// How long an ended owner is remembered: longer than a message can be in flight to a connected client.
const REMEMBERED: Duration = Duration::from_secs(10);

/// The maximum number of remembered owners. If one is forgotten too early and is then granted the lock, other clients
/// wait for its claim to expire: 1.5 s.
const MAX_REMEMBERED: usize = 1024;

/// The owners of a client that have not ended, each with a slot for one notification.
///
/// Wakers are called and dropped while the mutex is free, since they run foreign code.
#[derive(Clone, Debug)]
pub(crate) struct GrantNotifier {
    owners: Arc<Mutex<Owners>>,
    origin: Origin,
}

#[derive(Debug, Default)]
struct Owners {
    slots: HashMap<AcquisitionId, Slot>,
    client_ids: ClientIds,
    /// The owners that ended after they had a place in a queue, with their modes. The latest is at the back.
    ended: VecDeque<(Instant, OwnerId, Mode)>,
}

/// The slot for an owner's notification. Kept inside the map: every held lock has one, but few are ever notified.
#[derive(Debug)]
enum Slot {
    Idle,
    /// Notified, and no task has taken the notification yet.
    Notified,
    Awaited(Waker),
}

impl Slot {
    /// Notifies the owner. Returns the waker of the waiting task.
    fn notify(&mut self) -> Option<Waker> {
        match std::mem::replace(self, Slot::Notified) {
            Slot::Awaited(waker) => Some(waker),
            Slot::Idle | Slot::Notified => None,
        }
    }

    /// Takes the notification, or waits for it with `waker`. Returns the previous slot.
    fn take_or_wait(&mut self, waker: Waker) -> Slot {
        let now = match self {
            Slot::Notified => Slot::Idle,
            Slot::Idle | Slot::Awaited(_) => Slot::Awaited(waker),
        };
        std::mem::replace(self, now)
    }
}

impl Default for GrantNotifier {
    fn default() -> GrantNotifier {
        GrantNotifier {
            owners: Arc::default(),
            origin: Origin::here(),
        }
    }
}

impl GrantNotifier {
    /// Registers a new owner. Messages reach it from now on, so none can come too early.
    pub(crate) fn register(&self) -> Result<OwnerId, LockError> {
        let drawn = random::acquisition()?;
        let mut owners = self.owners();
        let owner_id = OwnerId::from_random(owners.client_ids.register()?, drawn);
        owners.slots.insert(owner_id.acquisition(), Slot::Idle);
        Ok(owner_id)
    }

    /// Lets messages reach an ended owner again.
    pub(crate) fn register_again(&self, owner_id: OwnerId) {
        let mut owners = self.owners();
        owners.client_ids.register_again(owner_id.process());
        owners.slots.insert(owner_id.acquisition(), Slot::Idle);
    }

    /// Removes an owner that has ended. If it may yet be granted the lock in this mode, it is remembered for a while.
    pub(crate) fn unregister(&self, owner_id: OwnerId, may_be_granted: Option<Mode>) {
        let Some(mut owners) = self.owners.lock_unless_forked(&self.origin) else {
            return;
        };
        let slot = owners.slots.remove(&owner_id.acquisition());
        owners.client_ids.unregister(owner_id.process());
        if let Some(mode) = may_be_granted {
            owners.remember(owner_id, mode, Instant::now());
        }
        drop(owners);
        drop(slot);
    }

    /// Returns the mode of an owner of this client that ended recently, and forgets the owner.
    pub(crate) fn take_just_ended(&self, owner_id: OwnerId) -> Option<Mode> {
        let mut owners = self.owners();
        let is_it = |&(_, other, _): &(Instant, OwnerId, Mode)| other == owner_id;
        let index = owners.ended.iter().rposition(is_it)?;
        let (at, _, mode) = owners.ended.remove(index)?;
        (at.elapsed() <= REMEMBERED).then_some(mode)
    }

    /// Returns the ids for the subscriptions of a new connection to a node.
    pub(crate) fn client_ids(&self, node: NodeId) -> Result<Vec<ClientId>, LockError> {
        self.owners().client_ids.for_connection(node)
    }

    /// Returns the ids in use that are not in `subscribed`.
    pub(crate) fn missing_ids(&self, subscribed: &[ClientId]) -> Vec<ClientId> {
        self.owners().client_ids.missing(subscribed)
    }

    /// Notes that a connection is subscribed.
    pub(crate) fn connected(&self, node: NodeId, connection: ConnectionId) {
        self.owners().client_ids.connected(node, connection);
    }

    /// Notes that a connection is gone, and notifies the owners, since messages may have been missed. If other nodes
    /// are connected, it notifies only waiters: a holder on another node would conclude that a waiter queues behind it.
    pub(crate) fn disconnected(&self, node: NodeId, connection: ConnectionId) {
        let mut owners = self.owners();
        owners.client_ids.disconnected(node, connection);
        if owners.client_ids.is_subscribed() {
            drop(owners);
            return self.notify_waiters();
        }
        let wakers: Vec<Waker> = owners.slots.values_mut().filter_map(Slot::notify).collect();
        drop(owners);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Notifies the owners that wait. A holder would conclude that a waiter queues behind it.
    pub(crate) fn notify_waiters(&self) {
        let mut owners = self.owners();
        let waiting = |slot: &&mut Slot| matches!(slot, Slot::Awaited(_));
        let waiters = owners.slots.values_mut().filter(waiting);
        let wakers: Vec<Waker> = waiters.filter_map(Slot::notify).collect();
        drop(owners);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Notifies an owner. Returns `false` if this client has no such owner.
    pub(crate) fn notify(&self, owner_id: OwnerId) -> bool {
        let id = owner_id.acquisition();
        let notified = self.owners().slots.get_mut(&id).map(Slot::notify);
        if let Some(Some(waker)) = &notified {
            waker.wake_by_ref();
        }
        notified.is_some()
    }

    /// Completes when an owner is notified, or has been since the last completion. Only one task at a time may call
    /// this.
    pub(crate) async fn notified(&self, owner_id: OwnerId) {
        let id = owner_id.acquisition();
        poll_fn(|cx| {
            let waker = cx.waker().clone();
            let take = |slot: &mut Slot| slot.take_or_wait(waker);
            let before = self.owners().slots.get_mut(&id).map(take);
            match before {
                Some(Slot::Notified) => Poll::Ready(()),
                Some(Slot::Idle | Slot::Awaited(_)) | None => Poll::Pending,
            }
        })
        .await;
    }

    /// Returns whether an owner was notified and no task has taken the notification.
    pub(crate) fn was_notified(&self, owner_id: OwnerId) -> bool {
        let owners = self.owners();
        let slot = owners.slots.get(&owner_id.acquisition());
        matches!(slot, Some(Slot::Notified))
    }

    fn owners(&self) -> MutexGuard<'_, Owners> {
        self.owners.lock()
    }
}

impl Owners {
    fn remember(&mut self, owner_id: OwnerId, mode: Mode, now: Instant) {
        let is_old = |at: Instant| now - at > REMEMBERED;
        while self.ended.len() >= MAX_REMEMBERED
            || self.ended.front().is_some_and(|&(at, ..)| is_old(at))
        {
            self.ended.pop_front();
        }
        self.ended.push_back((now, owner_id, mode));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::pin::{Pin, pin};
    use std::time::Duration;
    use tokio::sync::Notify;
    use tokio::time::timeout;

    #[test]
    fn owner_is_new_for_every_acquisition_and_one_client_has_one_channel() {
        let notifier = GrantNotifier::default();
        let owners: Vec<_> = (0..50).map(|_| notifier.register().unwrap()).collect();
        let acquisitions: HashSet<_> = owners.iter().map(OwnerId::acquisition).collect();
        assert_eq!(acquisitions.len(), owners.len(), "an owner came again");
        let channels: HashSet<_> = owners.iter().map(OwnerId::process).collect();
        assert_eq!(channels.len(), 1);
    }

    #[tokio::test]
    async fn notification_before_the_wait_is_taken_once() {
        let notifier = GrantNotifier::default();
        let owner_id = notifier.register().unwrap();
        assert!(!notifier.was_notified(owner_id));
        assert!(notifier.notify(owner_id));
        assert!(notifier.notify(owner_id));
        assert!(notifier.was_notified(owner_id));
        notifier.notified(owner_id).await;
        assert!(!notifier.was_notified(owner_id));
        let mut again = pin!(notifier.notified(owner_id));
        assert!(poll_once(again.as_mut()).await.is_pending());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_owner_is_notified_by_its_id_and_when_a_connection_is_gone() {
        let notifier = GrantNotifier::default();
        let [first, second] = [(); 2].map(|()| notifier.register().unwrap());
        let woken = Arc::new(Notify::new());
        let listening = tokio::spawn({
            let (notifier, woken) = (notifier.clone(), woken.clone());
            async move {
                notifier.notified(first).await;
                woken.notify_one();
                notifier.notified(first).await;
            }
        });
        tokio::task::yield_now().await;
        assert!(notifier.notify(first));
        soon(woken.notified()).await;
        let mut other = pin!(notifier.notified(second));
        assert!(poll_once(other.as_mut()).await.is_pending());
        notifier.disconnected(NodeId(0), FIRST);
        soon(other).await;
        soon(listening).await.unwrap();
    }

    #[test]
    fn ended_owner_is_remembered_if_it_may_be_granted_the_lock() {
        let notifier = GrantNotifier::default();
        let [queued, other] = [(); 2].map(|()| notifier.register().unwrap());
        assert!(
            notifier.take_just_ended(queued).is_none(),
            "it has not ended"
        );
        notifier.unregister(queued, Some(Mode::Exclusive));
        notifier.unregister(other, None);
        assert!(!notifier.notify(queued) && !notifier.notify(other));
        assert!(notifier.take_just_ended(other).is_none());
        assert!(notifier.take_just_ended(queued).is_some());
        assert!(
            notifier.take_just_ended(queued).is_none(),
            "it is ended once"
        );
    }

    #[test]
    fn owner_of_another_client_is_not_remembered() {
        let (notifier, others) = (GrantNotifier::default(), GrantNotifier::default());
        let owner_id = others.register().unwrap();
        others.unregister(owner_id, Some(Mode::Exclusive));
        assert!(notifier.take_just_ended(owner_id).is_none());
    }

    #[test]
    fn number_of_remembered_owners_is_bounded() {
        let notifier = GrantNotifier::default();
        let first = notifier.register().unwrap();
        notifier.unregister(first, Some(Mode::Exclusive));
        for _ in 0..MAX_REMEMBERED {
            notifier.unregister(notifier.register().unwrap(), Some(Mode::Exclusive));
        }
        assert_eq!(notifier.owners().ended.len(), MAX_REMEMBERED);
        assert!(notifier.take_just_ended(first).is_none());
    }

    const FIRST: ConnectionId = ConnectionId(1);

    /// Paused time passes only while all tasks sleep.
    async fn soon<T>(future: impl Future<Output = T>) -> T {
        let outcome = timeout(Duration::from_secs(1), future).await;
        outcome.expect("the waiter is woken")
    }

    async fn poll_once(mut future: Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
        poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
    }
}
