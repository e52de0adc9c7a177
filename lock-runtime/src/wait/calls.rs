//! Whom a grant's message concerns.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use foldhash::HashMap;

use crate::fork::lock_unless_forked;
use crate::model::owner::{Acquisition, Owner};

/// Every owner of a client that has not ended, each with the bell that calls it.
///
/// Wakers are woken and dropped when the mutex is free again: what they do is for others to say.
#[derive(Clone, Debug)]
pub(crate) struct Calls {
    bells: Arc<Mutex<HashMap<Acquisition, Bell>>>,
    process: u32,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            bells: Arc::default(),
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
    /// Makes `owner` known. This must come before its first command: a message about an owner
    /// that is not known is answered by ending it.
    pub(crate) fn register(&self, owner: Owner) {
        self.bells().insert(owner.acquisition(), Bell::Silent);
    }

    /// Forgets an owner that has ended.
    pub(crate) fn forget(&self, owner: Owner) {
        let bells = lock_unless_forked(&self.bells, self.process);
        let bell = bells.and_then(|mut bells| bells.remove(&owner.acquisition()));
        drop(bell);
    }

    /// Calls `owner`; `false` if there is no such one.
    pub(crate) fn call(&self, owner: Owner) -> bool {
        let rung = self.bells().get_mut(&owner.acquisition()).map(Bell::ring);
        if let Some(Some(waker)) = &rung {
            waker.wake_by_ref();
        }
        rung.is_some()
    }

    /// Calls everybody, since messages may have been missed.
    pub(crate) fn call_all(&self) {
        let wakers: Vec<Waker> = self.bells().values_mut().filter_map(Bell::ring).collect();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Completes when `owner` is called, or was since this completed last. For one at a time.
    pub(crate) async fn called(&self, owner: Owner) {
        poll_fn(|cx| {
            let waker = cx.waker().clone();
            let listen = |bell: &mut Bell| bell.listen(waker);
            let before = self.bells().get_mut(&owner.acquisition()).map(listen);
            match before {
                Some(Bell::Rung) => Poll::Ready(()),
                Some(Bell::Silent | Bell::Awaited(_)) | None => Poll::Pending,
            }
        })
        .await;
    }

    /// Whether `owner` was called and has not heard it.
    pub(crate) fn has_rung(&self, owner: Owner) -> bool {
        matches!(self.bells().get(&owner.acquisition()), Some(Bell::Rung))
    }

    fn bells(&self) -> MutexGuard<'_, HashMap<Acquisition, Bell>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::owner::ProcessId;
    use std::pin::{Pin, pin};
    use std::time::Duration;
    use tokio::sync::Notify;
    use tokio::time::timeout;

    fn owner(number: u8) -> Owner {
        Owner::from_random(ProcessId::from_random([0; 6]), [number; 11])
    }

    #[tokio::test]
    async fn whoever_was_called_before_it_listens_hears_it_once() {
        let calls = Calls::default();
        calls.register(owner(1));
        assert!(!calls.has_rung(owner(1)));
        assert!(calls.call(owner(1)));
        assert!(calls.call(owner(1)));
        assert!(calls.has_rung(owner(1)));
        calls.called(owner(1)).await;
        assert!(!calls.has_rung(owner(1)));
        let mut again = pin!(calls.called(owner(1)));
        assert!(poll_once(again.as_mut()).await.is_pending());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_listens_is_woken_by_name_and_with_all() {
        let calls = Calls::default();
        calls.register(owner(1));
        calls.register(owner(2));
        let heard = Arc::new(Notify::new());
        let listening = tokio::spawn({
            let (calls, heard) = (calls.clone(), heard.clone());
            async move {
                calls.called(owner(1)).await;
                heard.notify_one();
                calls.called(owner(1)).await;
            }
        });
        tokio::task::yield_now().await;
        assert!(calls.call(owner(1)));
        soon(heard.notified()).await;
        let mut other = pin!(calls.called(owner(2)));
        assert!(poll_once(other.as_mut()).await.is_pending());
        calls.call_all();
        soon(other).await;
        soon(listening).await.unwrap();
    }

    #[test]
    fn whoever_has_ended_is_not_known() {
        let calls = Calls::default();
        calls.register(owner(1));
        calls.forget(owner(1));
        assert!(!calls.call(owner(1)));
    }

    /// Time only passes when everybody sleeps.
    async fn soon<T>(future: impl Future<Output = T>) -> T {
        let outcome = timeout(Duration::from_secs(1), future).await;
        outcome.expect("it is woken")
    }

    async fn poll_once(mut future: Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
        poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
    }
}
