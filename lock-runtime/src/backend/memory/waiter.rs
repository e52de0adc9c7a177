//! A waiting caller, on its runtime or on its own thread.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::backend::memory::reach::Reach;
use crate::backend::memory::refusal::Refusal;
use crate::backend::memory::shared_store::SharedStore;
use crate::backend::memory::store::holder::Grant;
use crate::backend::memory::store::store_request::{Ask, Busy, LockOwner};
use crate::background::Background;
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::error::LockError;
use crate::lease::Request;
use crate::lease::owner_id::OwnerId;

/// A caller in the queue of a lock. Dropping this leaves the queue, and passes on a lock that was granted meanwhile.
#[derive(Debug)]
pub(crate) struct Waiter<'a> {
    store: &'a SharedStore,
    reach: &'a Reach,
    request: &'a Request,
    timer: WaitTimer,
    notify: Arc<Notify>,
    /// `Some` while the caller queues or has a grant to confirm.
    owner: Option<OwnerId>,
}

impl<'a> Waiter<'a> {
    /// Creates a waiter on this clock. It joins the queue when it [waits](Waiter::wait).
    pub(crate) fn new(
        (store, reach): (&'a SharedStore, &'a Reach),
        request: &'a Request,
        clock: Clock,
    ) -> Result<Waiter<'a>, LockError> {
        Ok(Waiter {
            store,
            reach,
            request,
            timer: WaitTimer::of(clock)?,
            notify: Arc::default(),
            owner: None,
        })
    }

    /// Waits until the lock is granted or `until` has passed.
    pub(crate) async fn wait(&mut self, until: Moment) -> Result<Grant, Refusal> {
        loop {
            if self.reach.is_cut() {
                // Boxed, since only tests need it.
                Box::pin(self.wait_for_mend(until)).await?;
            }
            let now = self.timer.now();
            let next = match self.attempt(now, until) {
                Err(busy) if now < until => until.min(busy.expires_at).min(busy.first_leaves_at),
                outcome => return outcome.map_err(Refusal::Busy),
            };
            tokio::select! {
                biased;
                () = self.notify.notified() => {}
                () = self.timer.sleep(next.since(now)) => {}
            }
        }
    }

    /// Waits until the store is reachable again, and ignores the store's decisions for this caller until then.
    async fn wait_for_mend(&self, until: Moment) -> Result<(), Refusal> {
        loop {
            let mended = self.reach.mended();
            if !self.reach.is_cut() {
                return Ok(());
            }
            let now = self.timer.now();
            if now >= until {
                return Err(Refusal::Away);
            }
            tokio::select! {
                biased;
                () = mended => {}
                () = self.timer.sleep(until.since(now)) => {}
            }
        }
    }

    fn attempt(&mut self, now: Moment, until: Moment) -> Result<Grant, Busy> {
        let ask = Ask {
            owner: self.owner,
            queue_with: Some((&self.notify, until)),
            ..Ask::from(self.request)
        };
        let outcome = self.store.decide(|store| store.acquire(&ask, now));
        self.owner = outcome.as_ref().err().and_then(|busy| busy.owner);
        outcome
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        let Some(id) = self.owner else { return };
        let key = self.request.lock().key.as_str();
        let now = self.timer.now();
        self.store
            .decide(|store| store.end(LockOwner { key, id }, now));
    }
}

/// The clock and the timers of a waiting caller.
#[derive(Debug)]
enum WaitTimer {
    /// The runtime's clock and timers.
    Runtime,
    /// The real clock, and the timers of the background thread.
    Background(Background),
}

impl WaitTimer {
    fn of(clock: Clock) -> Result<WaitTimer, LockError> {
        if clock == Clock::Tokio {
            Ok(WaitTimer::Runtime)
        } else {
            Background::get().map(WaitTimer::Background)
        }
    }

    fn now(&self) -> Moment {
        match self {
            WaitTimer::Runtime => Clock::Tokio.now(),
            WaitTimer::Background(_) => Clock::Real.now(),
        }
    }

    async fn sleep(&self, span: Duration) {
        match self {
            WaitTimer::Runtime => tokio::time::sleep(span).await,
            WaitTimer::Background(background) => background.sleep(span).await,
        }
    }
}
