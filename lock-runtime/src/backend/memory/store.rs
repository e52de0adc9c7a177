//! The locks of one process, their holders and their queues: what follows from each request.
//!
//! All of it is decision. The time is an argument. Each answer comes with its [`Effects`], which the caller
//! carries out: the store wakes no waiter, sets no timer and takes no mutex. A holder and a
//! waiter each leave a handle (`H` and `W`), which the store returns where they are concerned.
//!
//! A lock is in the map while it has a holder, and a waiter is in a queue only behind one. Waiters are
//! served first come first served. A waiter that is granted a lock confirms that by its next attempt.

pub(crate) mod decision;
pub(crate) mod holder;
pub(crate) mod queue;
pub(crate) mod request;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::backend::memory::store::decision::{Decision, Effects};
use crate::backend::memory::store::holder::{Grant, Holder};
use crate::backend::memory::store::queue::{Queue, QueuedWaiter, WaiterId};
use crate::backend::memory::store::request::{Ask, AwaitedLock, Busy, HeldLock, RenewOutcome};
use crate::background::moment::Moment;
use crate::lease::fencing_token::FencingToken;

/// Every lock that is held.
#[derive(Debug)]
pub(crate) struct Store<H, W> {
    locks: HashMap<String, LockState<H, W>>,
    last_token: FencingToken,
    last_waiter: WaiterId,
}

#[derive(Debug)]
struct LockState<H, W> {
    holder: Holder<H>,
    queue: Queue<W>,
}

impl<H, W> Default for Store<H, W> {
    fn default() -> Self {
        Store {
            locks: HashMap::new(),
            last_token: FencingToken::new(0),
            last_waiter: WaiterId::default(),
        }
    }
}

impl<H, W: Clone> Store<H, W> {
    /// Attempts to acquire a lock.
    ///
    /// All attempts of an acquisition are this one request, as they are on a server. The first one may
    /// queue, and one that finds a grant confirms it. A waiter that comes too late for its grant queues
    /// anew.
    pub(crate) fn acquire(
        &mut self,
        ask: &Ask<'_, W>,
        now: Moment,
    ) -> Decision<Result<Grant, Busy>, H, W> {
        let effects = self.expire(ask.key, now);
        let Some(lock) = self.locks.get_mut(ask.key) else {
            return effects.with(Ok(self.grant(ask, now)));
        };
        if let Some(waiter) = ask.waiter
            && let Some(grant) = lock.holder.confirm(waiter)
        {
            return effects.with(Ok(grant));
        }
        effects.with(Err(Busy {
            waiter: lock.enqueue(ask, &mut self.last_waiter),
            holder: lock.holder.label.clone(),
            expires_at: lock.holder.expires_at,
        }))
    }

    /// Ends a waiter: afterwards it neither queues nor has a grant.
    pub(crate) fn end(&mut self, awaited: AwaitedLock<'_>, now: Moment) -> Decision<(), H, W> {
        let mut effects = Effects::none();
        if let Some(lock) = self.locks.get_mut(awaited.key) {
            if lock.holder.is_claimed_by(awaited.waiter) {
                self.hand_over(awaited.key, now, &mut effects);
            } else {
                lock.queue.remove(awaited.waiter);
                effects.wake.extend(lock.first());
            }
        }
        effects.with(())
    }

    /// Stores the handle of a holder, or returns it if the lock is not held any more.
    pub(crate) fn register(&mut self, held: HeldLock<'_>, handle: H) -> Option<H> {
        match self.find(held) {
            Some(lock) => lock.holder.handle.replace(handle),
            None => Some(handle),
        }
    }

    /// Confirms that a lock is held, and extends its lease unless it is renewed anyway.
    pub(crate) fn renew(
        &mut self,
        held: HeldLock<'_>,
        now: Moment,
    ) -> Decision<RenewOutcome<'_, H>, H, W> {
        let mut effects = self.expire(held.key, now);
        let Some(lock) = self.find(held) else {
            return effects.with(RenewOutcome::NotHeld);
        };
        let Some(deadline) = lock.holder.extend(now) else {
            return effects.with(RenewOutcome::Unchanged);
        };
        effects.wake.extend(lock.first());
        effects.with(RenewOutcome::Extended {
            deadline,
            handle: lock.holder.handle.as_mut(),
        })
    }

    /// Releases a lock, and grants it to the first in its queue. `false` if it was not held.
    pub(crate) fn release(&mut self, held: HeldLock<'_>, now: Moment) -> Decision<bool, H, W> {
        let mut effects = self.expire(held.key, now);
        let is_held = self.find(held).is_some();
        if is_held {
            let handle = self.hand_over(held.key, now, &mut effects);
            effects.released.extend(handle);
        }
        effects.with(is_held)
    }

    /// The handle of the holder of `key`.
    pub(crate) fn handle(&mut self, key: &str, now: Moment) -> Decision<Option<&H>, H, W> {
        let effects = self.expire(key, now);
        let lock = self.locks.get(key);
        effects.with(lock.and_then(|lock| lock.holder.handle.as_ref()))
    }

    /// The handles of all holders.
    pub(crate) fn handles(&self) -> impl Iterator<Item = &H> {
        let holders = self.locks.values().map(|lock| &lock.holder);
        holders.filter_map(|holder| holder.handle.as_ref())
    }

    fn find(&mut self, held: HeldLock<'_>) -> Option<&mut LockState<H, W>> {
        let lock = self.locks.get_mut(held.key);
        lock.filter(|lock| lock.holder.token == held.token)
    }

    /// Grants a lock that is free.
    fn grant(&mut self, ask: &Ask<'_, W>, now: Moment) -> Grant {
        let token = mint(&mut self.last_token);
        let lock = LockState {
            holder: Holder::new(token, ask.label.clone(), &ask.terms, now),
            queue: Queue::new(),
        };
        self.locks.insert(ask.key.to_owned(), lock);
        Grant::new(token, now, &ask.terms)
    }

    /// Ends the holder of `key` if its lease has expired.
    fn expire(&mut self, key: &str, now: Moment) -> Effects<H, W> {
        let mut effects = Effects::none();
        while let Some(lock) = self.locks.get(key)
            && now >= lock.holder.expires_at
        {
            let handle = self.hand_over(key, now, &mut effects);
            effects.expired.extend(handle);
        }
        effects
    }

    /// Ends the holder of `key`, whose handle is returned, and grants the lock to the first in its queue.
    fn hand_over(&mut self, key: &str, now: Moment, effects: &mut Effects<H, W>) -> Option<H> {
        let lock = self.locks.get_mut(key)?;
        let ended = match lock.queue.pop() {
            Some(waiter) => {
                let next = Holder::claimant(mint(&mut self.last_token), &waiter, now);
                effects.wake.push(waiter.handle);
                effects.wake.extend(lock.first());
                Some(std::mem::replace(&mut lock.holder, next))
            }
            None => self.locks.remove(key).map(|lock| lock.holder),
        };
        ended?.handle
    }
}

impl<H, W: Clone> LockState<H, W> {
    /// The handle of the first in the queue.
    fn first(&self) -> Option<W> {
        self.queue.first().map(|waiter| waiter.handle.clone())
    }

    /// The place of a caller that waits; a new one at the back unless it has one.
    fn enqueue(&mut self, ask: &Ask<'_, W>, last_waiter: &mut WaiterId) -> Option<WaiterId> {
        if let Some(waiter) = ask.waiter
            && self.queue.contains(waiter)
        {
            return Some(waiter);
        }
        let handle = ask.queue_with?.clone();
        *last_waiter = last_waiter.next();
        self.queue.push(QueuedWaiter {
            id: *last_waiter,
            label: ask.label.clone(),
            terms: ask.terms,
            handle,
        });
        Some(*last_waiter)
    }
}

/// The next token, above all that were granted before.
fn mint(last: &mut FencingToken) -> FencingToken {
    *last = FencingToken::new(last.get() + u64::from(FencingToken::STEP));
    *last
}
