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

use crate::backend::wire::outstanding::Incarnation;
use crate::background::fork::lock_unless_forked;
use crate::background::random;
use crate::error::LockError;
use crate::lease::owner_id::{Acquisition, Owner, ProcessId};

/// How long an owner that ended is remembered: longer than a message can be under way to a client that
/// is connected.
const REMEMBERED: Duration = Duration::from_secs(10);

/// No more owners that ended are remembered. What is forgotten sooner costs the others a claim.
const MOST_REMEMBERED: usize = 1024;

/// Every owner of a client that has not ended, each with the bell that calls it.
///
/// Wakers are woken and dropped when the mutex is free again: what they do is for others to say.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    owners: Arc<Mutex<Owners>>,
    process: u32,
}

#[derive(Debug, Default)]
struct Owners {
    bells: HashMap<Acquisition, Bell>,
    names: Names,
    /// Owners that ended after they had a place in a queue, the last one at the end.
    ended: VecDeque<(Instant, Owner)>,
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
    in_use: Vec<(ProcessId, usize)>,
    /// The connection that has that one, or had.
    taken_by: Option<Incarnation>,
    /// It is gone.
    is_past: bool,
}

impl Names {
    /// Draws a name for new owners, and drops those that no owner goes by.
    fn draw(&mut self) -> Result<(), LockError> {
        let name = random::process_id()?;
        self.in_use.retain(|&(_, owners)| owners > 0);
        self.in_use.push((name, 0));
        (self.taken_by, self.is_past) = (None, false);
        Ok(())
    }

    fn owners_mut(&mut self, name: ProcessId) -> Option<&mut usize> {
        let mut names = self.in_use.iter_mut().rev();
        names
            .find(|(other, _)| *other == name)
            .map(|(_, count)| count)
    }
}

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            owners: Arc::default(),
            process: std::process::id(),
        }
    }
}

/// In the map and nowhere beside it: every lock that is held has one, and hardly any ever rings.
#[derive(Debug)]
enum Bell {
    Silent,
    /// Nobody has heard it yet.
    Rung,
    Awaited(Waker),
}

impl Bell {
    /// Rings it, and says whom to wake.
    fn ring(&mut self) -> Option<Waker> {
        match std::mem::replace(self, Bell::Rung) {
            Bell::Awaited(waker) => Some(waker),
            Bell::Silent | Bell::Rung => None,
        }
    }

    /// Listens, unless it has rung: then it has been heard. Says what it was before.
    fn listen(&mut self, waker: Waker) -> Bell {
        let now = match self {
            Bell::Rung => Bell::Silent,
            Bell::Silent | Bell::Awaited(_) => Bell::Awaited(waker),
        };
        std::mem::replace(self, now)
    }
}

impl Calls {
    /// A new owner. It is known from now on, so that no message about it comes too early.
    pub(crate) fn enlist(&self) -> Result<Owner, LockError> {
        let drawn = random::acquisition()?;
        let mut owners = self.owners();
        if owners.names.in_use.is_empty() || owners.names.is_past {
            owners.names.draw()?;
        }
        let (name, count) = owners.names.in_use.last_mut().expect("it was drawn above");
        *count += 1;
        let owner = Owner::from_random(*name, drawn);
        owners.bells.insert(owner.acquisition(), Bell::Silent);
        Ok(owner)
    }

    /// Makes an owner known again that has ended.
    pub(crate) fn enlist_again(&self, owner: Owner) {
        let mut owners = self.owners();
        let name = owner.process();
        match owners.names.owners_mut(name) {
            Some(count) => *count += 1,
            // In front: it is not for new owners.
            None => owners.names.in_use.insert(0, (name, 1)),
        }
        owners.bells.insert(owner.acquisition(), Bell::Silent);
    }

    /// Forgets an owner that has ended, at once or, if it `queued`, after a while.
    pub(crate) fn forget(&self, owner: Owner, queued: bool) {
        let Some(mut owners) = lock_unless_forked(&self.owners, self.process) else {
            return;
        };
        let bell = owners.bells.remove(&owner.acquisition());
        if let Some(count) = owners.names.owners_mut(owner.process()) {
            *count -= 1;
        }
        if queued {
            let now = Instant::now();
            while owners.ended.len() >= MOST_REMEMBERED
                || owners
                    .ended
                    .front()
                    .is_some_and(|&(at, _)| now - at > REMEMBERED)
            {
                owners.ended.pop_front();
            }
            owners.ended.push_back((now, owner));
        }
        drop(owners);
        drop(bell);
    }

    /// Whether `owner` is one of this client's that ended a moment ago. Says so once.
    pub(crate) fn has_just_ended(&self, owner: Owner) -> bool {
        let mut owners = self.owners();
        let is_it = |&(_, other): &(Instant, Owner)| other == owner;
        let Some(place) = owners.ended.iter().rposition(is_it) else {
            return false;
        };
        let ended = owners.ended.remove(place);
        ended.is_some_and(|(at, _)| at.elapsed() <= REMEMBERED)
    }

    /// The names to listen to on a new connection: that of new owners first, then those of owners that
    /// have not ended. Each connection has a new one.
    pub(crate) fn names_of_connection(&self) -> Result<Vec<ProcessId>, LockError> {
        let mut owners = self.owners();
        let names = &mut owners.names;
        // One by which owners go already, since they are why it is made, is kept.
        if names.taken_by.is_some() || names.in_use.last().is_none_or(|&(_, owners)| owners == 0) {
            names.draw()?;
        }
        Ok(names.in_use.iter().rev().map(|&(name, _)| name).collect())
    }

    /// A connection listens to the name of new owners.
    pub(crate) fn connected(&self, incarnation: Incarnation) {
        self.owners().names.taken_by = Some(incarnation);
    }

    /// A connection is gone: the owners that come now go by the name of the next one, unless that is there
    /// already.
    pub(crate) fn disconnected(&self, incarnation: Incarnation) {
        let names = &mut self.owners().names;
        names.is_past |= names.taken_by == Some(incarnation);
    }

    /// Calls `owner`; `false` if there is no such one.
    pub(crate) fn call(&self, owner: Owner) -> bool {
        let rung = self
            .owners()
            .bells
            .get_mut(&owner.acquisition())
            .map(Bell::ring);
        if let Some(Some(waker)) = &rung {
            waker.wake_by_ref();
        }
        rung.is_some()
    }

    /// Calls everybody, since messages may have been missed.
    pub(crate) fn call_all(&self) {
        let wakers: Vec<Waker> = self
            .owners()
            .bells
            .values_mut()
            .filter_map(Bell::ring)
            .collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Completes when `owner` is called, or was since this completed last. For one at a time.
    pub(crate) async fn called(&self, owner: Owner) {
        poll_fn(|cx| {
            let waker = cx.waker().clone();
            let listen = |bell: &mut Bell| bell.listen(waker);
            let before = self
                .owners()
                .bells
                .get_mut(&owner.acquisition())
                .map(listen);
            match before {
                Some(Bell::Rung) => Poll::Ready(()),
                Some(Bell::Silent | Bell::Awaited(_)) | None => Poll::Pending,
            }
        })
        .await;
    }

    /// Whether `owner` was called and has not heard it.
    pub(crate) fn has_rung(&self, owner: Owner) -> bool {
        matches!(
            self.owners().bells.get(&owner.acquisition()),
            Some(Bell::Rung)
        )
    }

    fn owners(&self) -> MutexGuard<'_, Owners> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
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
        let calls = Calls::default();
        let owner = calls.enlist().unwrap();
        assert!(!calls.has_rung(owner));
        assert!(calls.call(owner));
        assert!(calls.call(owner));
        assert!(calls.has_rung(owner));
        calls.called(owner).await;
        assert!(!calls.has_rung(owner));
        let mut again = pin!(calls.called(owner));
        assert!(poll_once(again.as_mut()).await.is_pending());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_listens_is_woken_by_name_and_with_all() {
        let calls = Calls::default();
        let [first, second] = [(); 2].map(|()| calls.enlist().unwrap());
        let heard = Arc::new(Notify::new());
        let listening = tokio::spawn({
            let (calls, heard) = (calls.clone(), heard.clone());
            async move {
                calls.called(first).await;
                heard.notify_one();
                calls.called(first).await;
            }
        });
        tokio::task::yield_now().await;
        assert!(calls.call(first));
        soon(heard.notified()).await;
        let mut other = pin!(calls.called(second));
        assert!(poll_once(other.as_mut()).await.is_pending());
        calls.call_all();
        soon(other).await;
        soon(listening).await.unwrap();
    }

    #[test]
    fn an_owner_that_ended_is_remembered_if_it_queued() {
        let calls = Calls::default();
        let [queued, other] = [(); 2].map(|()| calls.enlist().unwrap());
        assert!(!calls.has_just_ended(queued), "it has not ended");
        calls.forget(queued, true);
        calls.forget(other, false);
        assert!(!calls.call(queued) && !calls.call(other));
        assert!(!calls.has_just_ended(other));
        assert!(calls.has_just_ended(queued));
        assert!(!calls.has_just_ended(queued), "it is ended once");
    }

    #[test]
    fn an_owner_of_another_client_never_ended_here() {
        let (calls, others) = (Calls::default(), Calls::default());
        let owner = others.enlist().unwrap();
        others.forget(owner, true);
        assert!(!calls.has_just_ended(owner));
    }

    #[test]
    fn no_more_than_so_many_owners_are_remembered() {
        let calls = Calls::default();
        let first = calls.enlist().unwrap();
        calls.forget(first, true);
        for _ in 0..MOST_REMEMBERED {
            calls.forget(calls.enlist().unwrap(), true);
        }
        assert_eq!(calls.owners().ended.len(), MOST_REMEMBERED);
        assert!(!calls.has_just_ended(first));
    }

    #[test]
    fn each_connection_has_a_name_of_its_own() {
        let calls = Calls::default();
        let owner = calls.enlist().unwrap();
        // The owner that it is made for waits for it under that name.
        assert_eq!(calls.names_of_connection().unwrap(), [owner.process()]);
        calls.connected(FIRST);
        assert_eq!(calls.enlist().unwrap().process(), owner.process());

        let names = calls.names_of_connection().unwrap();
        let [new, old] = names[..] else {
            panic!("{names:?}")
        };
        assert_eq!(old, owner.process(), "it has not ended");
        assert_ne!(new, old);
        assert_eq!(calls.enlist().unwrap().process(), new);
    }

    #[test]
    fn an_owner_that_comes_while_there_is_no_connection_goes_by_the_name_of_the_next() {
        let calls = Calls::default();
        calls.names_of_connection().unwrap();
        calls.connected(FIRST);
        let first = calls.enlist().unwrap();
        calls.disconnected(FIRST);
        let [second, third] = [(); 2].map(|()| calls.enlist().unwrap().process());
        assert_eq!(second, third);
        assert_ne!(second, first.process());
        assert_eq!(
            calls.names_of_connection().unwrap(),
            [second, first.process()]
        );
    }

    #[test]
    fn the_end_of_a_connection_that_is_told_late_changes_no_name() {
        let calls = Calls::default();
        calls.names_of_connection().unwrap();
        calls.connected(FIRST);
        let [second] = calls.names_of_connection().unwrap()[..] else {
            panic!("one")
        };
        calls.connected(Incarnation(2));
        calls.disconnected(FIRST);
        assert_eq!(calls.enlist().unwrap().process(), second);
    }

    #[test]
    fn a_name_is_dropped_with_its_last_owner() {
        let calls = Calls::default();
        let owner = calls.enlist().unwrap();
        calls.names_of_connection().unwrap();
        calls.connected(FIRST);
        calls.forget(owner, false);
        let names = calls.names_of_connection().unwrap();
        assert_eq!(names.len(), 1);
        assert_ne!(names[0], owner.process());
    }

    #[test]
    fn an_idle_client_connects_by_another_name_each_time() {
        let calls = Calls::default();
        let mut names: Vec<_> = (0..4)
            .flat_map(|_| calls.names_of_connection().unwrap())
            .collect();
        assert_eq!(names.len(), 4);
        names.dedup();
        assert_eq!(names.len(), 4);
    }

    const FIRST: Incarnation = Incarnation(1);

    /// Time only passes when everybody sleeps.
    async fn soon<T>(future: impl Future<Output = T>) -> T {
        let outcome = timeout(Duration::from_secs(1), future).await;
        outcome.expect("it is woken")
    }

    async fn poll_once(mut future: Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
        poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
    }
}
