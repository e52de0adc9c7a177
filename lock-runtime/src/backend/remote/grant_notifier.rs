//! The owners of a client: their names, and which of them a message concerns.
//!
//! A message is a hint from somebody who may be mistaken or lie: it may wake a waiter, end a lease that no
//! caller has, and have an owner of this client's ended again that ended a moment ago. It never ends an
//! owner of another client.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use foldhash::HashMap;

use crate::backend::wire::outstanding::ConnectionId;
use crate::background::fork::lock_unless_forked;
use crate::background::random;
use crate::error::LockError;
use crate::lease::owner_id::{AcquisitionId, ClientId, OwnerId};

/// How long an owner that ended is remembered: longer than a message can be under way to a client that
/// is connected.
const REMEMBERED: Duration = Duration::from_secs(10);

/// No more owners that ended are remembered. What is forgotten sooner costs the others a claim.
const MAX_REMEMBERED: usize = 1024;

/// Every owner of a client that has not ended, each with the bell that calls it.
///
/// Wakers are woken and dropped when the mutex is free again: what they do is for others to say.
#[derive(Clone, Debug)]
pub(crate) struct GrantNotifier {
    owner_ids: Arc<Mutex<Owners>>,
    process: u32,
}

#[derive(Debug, Default)]
struct Owners {
    slots: HashMap<AcquisitionId, Slot>,
    names: Names,
    /// Owners that ended after they had a place in a queue, the last one at the end.
    ended: VecDeque<(Instant, OwnerId)>,
}

/// The names that a client goes by, and how many of its owners go by each.
///
/// A connection has a name of its own. A machine that is copied while it runs, and a process that is
/// restored twice, have one name until they connect anew, and two from then on: or each would hear what
/// is meant for the other, and count as a subscriber in its place. (Copies of one that waits and is not
/// connected at that moment share a name until the connection after the next.)
#[derive(Debug, Default)]
struct Names {
    /// The last one is for new owners.
    in_use: Vec<(ClientId, usize)>,
    /// The connection that has that one, or had.
    taken_by: Option<ConnectionId>,
    /// It is gone.
    is_past: bool,
}

impl Names {
    /// Draws a name for new owners, and drops those that no owner goes by.
    fn draw(&mut self) -> Result<(), LockError> {
        let name = random::client_id()?;
        self.in_use.retain(|&(_, owner_ids)| owner_ids > 0);
        self.in_use.push((name, 0));
        (self.taken_by, self.is_past) = (None, false);
        Ok(())
    }

    fn owners_mut(&mut self, name: ClientId) -> Option<&mut usize> {
        let mut names = self.in_use.iter_mut().rev();
        names
            .find(|(other, _)| *other == name)
            .map(|(_, count)| count)
    }
}

impl Default for GrantNotifier {
    fn default() -> GrantNotifier {
        GrantNotifier {
            owner_ids: Arc::default(),
            process: std::process::id(),
        }
    }
}

/// In the map and nowhere beside it: every lock that is held has one, and hardly any ever rings.
#[derive(Debug)]
enum Slot {
    Idle,
    /// Nobody has heard it yet.
    Notified,
    Awaited(Waker),
}

impl Slot {
    /// Rings it, and says whom to wake.
    fn ring(&mut self) -> Option<Waker> {
        match std::mem::replace(self, Slot::Notified) {
            Slot::Awaited(waker) => Some(waker),
            Slot::Idle | Slot::Notified => None,
        }
    }

    /// Listens, unless it has rung: then it has been heard. Says what it was before.
    fn listen(&mut self, waker: Waker) -> Slot {
        let now = match self {
            Slot::Notified => Slot::Idle,
            Slot::Idle | Slot::Awaited(_) => Slot::Awaited(waker),
        };
        std::mem::replace(self, now)
    }
}

impl GrantNotifier {
    /// A new owner. It is known from now on, so that no message about it comes too early.
    pub(crate) fn register(&self) -> Result<OwnerId, LockError> {
        let drawn = random::acquisition()?;
        let mut owner_ids = self.owner_ids();
        if owner_ids.names.in_use.is_empty() || owner_ids.names.is_past {
            owner_ids.names.draw()?;
        }
        let (name, count) = owner_ids
            .names
            .in_use
            .last_mut()
            .expect("it was drawn above");
        *count += 1;
        let owner_id = OwnerId::from_random(*name, drawn);
        owner_ids.slots.insert(owner_id.acquisition(), Slot::Idle);
        Ok(owner_id)
    }

    /// Makes an owner known again that has ended.
    pub(crate) fn register_again(&self, owner_id: OwnerId) {
        let mut owner_ids = self.owner_ids();
        let name = owner_id.process();
        match owner_ids.names.owners_mut(name) {
            Some(count) => *count += 1,
            // In front: it is not for new owners.
            None => owner_ids.names.in_use.insert(0, (name, 1)),
        }
        owner_ids.slots.insert(owner_id.acquisition(), Slot::Idle);
    }

    /// Forgets an owner that has ended, at once or, if it `queued`, after a while.
    pub(crate) fn unregister(&self, owner_id: OwnerId, queued: bool) {
        let Some(mut owner_ids) = lock_unless_forked(&self.owner_ids, self.process) else {
            return;
        };
        let slot = owner_ids.slots.remove(&owner_id.acquisition());
        if let Some(count) = owner_ids.names.owners_mut(owner_id.process()) {
            *count -= 1;
        }
        if queued {
            let now = Instant::now();
            while owner_ids.ended.len() >= MAX_REMEMBERED
                || owner_ids
                    .ended
                    .front()
                    .is_some_and(|&(at, _)| now - at > REMEMBERED)
            {
                owner_ids.ended.pop_front();
            }
            owner_ids.ended.push_back((now, owner_id));
        }
        drop(owner_ids);
        drop(slot);
    }

    /// Whether `owner_id` is one of this client's that ended a moment ago. Says so once.
    pub(crate) fn has_just_ended(&self, owner_id: OwnerId) -> bool {
        let mut owner_ids = self.owner_ids();
        let is_it = |&(_, other): &(Instant, OwnerId)| other == owner_id;
        let Some(waiter_id) = owner_ids.ended.iter().rposition(is_it) else {
            return false;
        };
        let ended = owner_ids.ended.remove(waiter_id);
        ended.is_some_and(|(at, _)| at.elapsed() <= REMEMBERED)
    }

    /// The names to listen to on a new connection: that of new owners first, then those of owners that
    /// have not ended. Each connection has a new one.
    pub(crate) fn client_ids(&self) -> Result<Vec<ClientId>, LockError> {
        let mut owner_ids = self.owner_ids();
        let names = &mut owner_ids.names;
        // One by which owners go already, since they are why it is made, is kept.
        if names.taken_by.is_some()
            || names
                .in_use
                .last()
                .is_none_or(|&(_, owner_ids)| owner_ids == 0)
        {
            names.draw()?;
        }
        Ok(names.in_use.iter().rev().map(|&(name, _)| name).collect())
    }

    /// A connection listens to the name of new owners.
    pub(crate) fn connected(&self, connection_id: ConnectionId) {
        self.owner_ids().names.taken_by = Some(connection_id);
    }

    /// A connection is gone: the owners that come now go by the name of the next one, unless that is there
    /// already.
    pub(crate) fn disconnected(&self, connection_id: ConnectionId) {
        let names = &mut self.owner_ids().names;
        names.is_past |= names.taken_by == Some(connection_id);
    }

    /// Calls `owner_id`; `false` if there is no such one.
    pub(crate) fn notify(&self, owner_id: OwnerId) -> bool {
        let rung = self
            .owner_ids()
            .slots
            .get_mut(&owner_id.acquisition())
            .map(Slot::ring);
        if let Some(Some(waker)) = &rung {
            waker.wake_by_ref();
        }
        rung.is_some()
    }

    /// Calls everybody, since messages may have been missed.
    pub(crate) fn notify_all(&self) {
        let wakers: Vec<Waker> = self
            .owner_ids()
            .slots
            .values_mut()
            .filter_map(Slot::ring)
            .collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Completes when `owner_id` is called, or was since this completed last. For one at a time.
    pub(crate) async fn notified(&self, owner_id: OwnerId) {
        poll_fn(|cx| {
            let waker = cx.waker().clone();
            let listen = |slot: &mut Slot| slot.listen(waker);
            let before = self
                .owner_ids()
                .slots
                .get_mut(&owner_id.acquisition())
                .map(listen);
            match before {
                Some(Slot::Notified) => Poll::Ready(()),
                Some(Slot::Idle | Slot::Awaited(_)) | None => Poll::Pending,
            }
        })
        .await;
    }

    /// Whether `owner_id` was called and has not heard it.
    pub(crate) fn was_notified(&self, owner_id: OwnerId) -> bool {
        matches!(
            self.owner_ids().slots.get(&owner_id.acquisition()),
            Some(Slot::Notified)
        )
    }

    fn owner_ids(&self) -> MutexGuard<'_, Owners> {
        self.owner_ids
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::{Pin, pin};
    use std::time::Duration;
    use tokio::sync::Notify;
    use tokio::time::timeout;

    #[tokio::test]
    async fn whoever_was_called_before_it_listens_hears_it_once() {
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
    async fn whoever_listens_is_woken_by_name_and_with_all() {
        let notifier = GrantNotifier::default();
        let [first, second] = [(); 2].map(|()| notifier.register().unwrap());
        let heard = Arc::new(Notify::new());
        let listening = tokio::spawn({
            let (notifier, heard) = (notifier.clone(), heard.clone());
            async move {
                notifier.notified(first).await;
                heard.notify_one();
                notifier.notified(first).await;
            }
        });
        tokio::task::yield_now().await;
        assert!(notifier.notify(first));
        soon(heard.notified()).await;
        let mut other = pin!(notifier.notified(second));
        assert!(poll_once(other.as_mut()).await.is_pending());
        notifier.notify_all();
        soon(other).await;
        soon(listening).await.unwrap();
    }

    #[test]
    fn an_owner_that_ended_is_remembered_if_it_queued() {
        let notifier = GrantNotifier::default();
        let [queued, other] = [(); 2].map(|()| notifier.register().unwrap());
        assert!(!notifier.has_just_ended(queued), "it has not ended");
        notifier.unregister(queued, true);
        notifier.unregister(other, false);
        assert!(!notifier.notify(queued) && !notifier.notify(other));
        assert!(!notifier.has_just_ended(other));
        assert!(notifier.has_just_ended(queued));
        assert!(!notifier.has_just_ended(queued), "it is ended once");
    }

    #[test]
    fn an_owner_of_another_client_never_ended_here() {
        let (notifier, others) = (GrantNotifier::default(), GrantNotifier::default());
        let owner_id = others.register().unwrap();
        others.unregister(owner_id, true);
        assert!(!notifier.has_just_ended(owner_id));
    }

    #[test]
    fn no_more_than_so_many_owners_are_remembered() {
        let notifier = GrantNotifier::default();
        let first = notifier.register().unwrap();
        notifier.unregister(first, true);
        for _ in 0..MAX_REMEMBERED {
            notifier.unregister(notifier.register().unwrap(), true);
        }
        assert_eq!(notifier.owner_ids().ended.len(), MAX_REMEMBERED);
        assert!(!notifier.has_just_ended(first));
    }

    #[test]
    fn each_connection_has_a_name_of_its_own() {
        let notifier = GrantNotifier::default();
        let owner_id = notifier.register().unwrap();
        // The owner that it is made for waits for it under that name.
        assert_eq!(notifier.client_ids().unwrap(), [owner_id.process()]);
        notifier.connected(FIRST);
        assert_eq!(notifier.register().unwrap().process(), owner_id.process());

        let names = notifier.client_ids().unwrap();
        let [new, old] = names[..] else {
            panic!("{names:?}")
        };
        assert_eq!(old, owner_id.process(), "it has not ended");
        assert_ne!(new, old);
        assert_eq!(notifier.register().unwrap().process(), new);
    }

    #[test]
    fn an_owner_that_comes_while_there_is_no_connection_goes_by_the_name_of_the_next() {
        let notifier = GrantNotifier::default();
        notifier.client_ids().unwrap();
        notifier.connected(FIRST);
        let first = notifier.register().unwrap();
        notifier.disconnected(FIRST);
        let [second, third] = [(); 2].map(|()| notifier.register().unwrap().process());
        assert_eq!(second, third);
        assert_ne!(second, first.process());
        assert_eq!(notifier.client_ids().unwrap(), [second, first.process()]);
    }

    #[test]
    fn the_end_of_a_connection_that_is_told_late_changes_no_name() {
        let notifier = GrantNotifier::default();
        notifier.client_ids().unwrap();
        notifier.connected(FIRST);
        let [second] = notifier.client_ids().unwrap()[..] else {
            panic!("one")
        };
        notifier.connected(ConnectionId(2));
        notifier.disconnected(FIRST);
        assert_eq!(notifier.register().unwrap().process(), second);
    }

    #[test]
    fn a_name_is_dropped_with_its_last_owner() {
        let notifier = GrantNotifier::default();
        let owner_id = notifier.register().unwrap();
        notifier.client_ids().unwrap();
        notifier.connected(FIRST);
        notifier.unregister(owner_id, false);
        let names = notifier.client_ids().unwrap();
        assert_eq!(names.len(), 1);
        assert_ne!(names[0], owner_id.process());
    }

    #[test]
    fn an_idle_client_connects_by_another_name_each_time() {
        let notifier = GrantNotifier::default();
        let mut names: Vec<_> = (0..4)
            .flat_map(|_| notifier.client_ids().unwrap())
            .collect();
        assert_eq!(names.len(), 4);
        names.dedup();
        assert_eq!(names.len(), 4);
    }

    const FIRST: ConnectionId = ConnectionId(1);

    /// Time only passes when everybody sleeps.
    async fn soon<T>(future: impl Future<Output = T>) -> T {
        let outcome = timeout(Duration::from_secs(1), future).await;
        outcome.expect("it is woken")
    }

    async fn poll_once(mut future: Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
        poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
    }
}
