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
mod owner_ids;
pub(crate) mod queue;
pub(crate) mod request;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::backend::memory::store::decision::{Decision, Effects};
use crate::backend::memory::store::holder::{Grant, Holder};
use crate::backend::memory::store::owner_ids::OwnerIds;
use crate::backend::memory::store::queue::{Queue, QueuedWaiter};
use crate::backend::memory::store::request::{Ask, Busy, LockOwner, RenewOutcome};
use crate::background::moment::Moment;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;

/// Every lock that is held.
#[derive(Debug)]
pub(crate) struct Store<H, W> {
    locks: HashMap<String, LockState<H, W>>,
    last_token: FencingToken,
    owner_ids: OwnerIds,
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
            owner_ids: OwnerIds::default(),
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
        if ask.owner == Some(lock.holder.owner)
            && let Some(grant) = lock.holder.confirm()
        {
            return effects.with(Ok(grant));
        }
        effects.with(Err(Busy {
            owner: lock.enqueue(ask, &mut self.owner_ids),
            holder: lock.holder.label.clone(),
            expires_at: lock.holder.expires_at,
        }))
    }

    /// Ends a waiter: afterwards it neither queues nor has a grant.
    pub(crate) fn end(&mut self, waiter: LockOwner<'_>, now: Moment) -> Decision<(), H, W> {
        let mut effects = Effects::none();
        if let Some(lock) = self.locks.get_mut(waiter.key) {
            if lock.holder.owner == waiter.id && lock.holder.is_claimant() {
                self.hand_over(waiter.key, now, &mut effects);
            } else {
                lock.queue.remove(waiter.id);
                effects.wake.extend(lock.first());
            }
        }
        effects.with(())
    }

    /// Stores the handle of a holder, or returns it if the lock is not held any more.
    pub(crate) fn register(&mut self, holder: LockOwner<'_>, handle: H) -> Option<H> {
        match self.find(holder) {
            Some(lock) => lock.holder.handle.replace(handle),
            None => Some(handle),
        }
    }

    /// Confirms that a lock is held, and extends its lease unless it is renewed anyway.
    pub(crate) fn renew(
        &mut self,
        holder: LockOwner<'_>,
        now: Moment,
    ) -> Decision<RenewOutcome<'_, H>, H, W> {
        let mut effects = self.expire(holder.key, now);
        let Some(lock) = self.find(holder) else {
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
    pub(crate) fn release(&mut self, holder: LockOwner<'_>, now: Moment) -> Decision<bool, H, W> {
        let mut effects = self.expire(holder.key, now);
        let is_held = self.find(holder).is_some();
        if is_held {
            let handle = self.hand_over(holder.key, now, &mut effects);
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

    fn find(&mut self, holder: LockOwner<'_>) -> Option<&mut LockState<H, W>> {
        let lock = self.locks.get_mut(holder.key);
        lock.filter(|lock| lock.holder.owner == holder.id)
    }

    /// Grants a lock that is free.
    fn grant(&mut self, ask: &Ask<'_, W>, now: Moment) -> Grant {
        let (owner, token) = (self.owner_ids.next(), mint(&mut self.last_token));
        let (holder, grant) = Holder::new(owner, token, ask.label.clone(), ask.terms, now);
        let queue = Queue::new();
        self.locks
            .insert(ask.key.to_owned(), LockState { holder, queue });
        grant
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
                let token = mint(&mut self.last_token);
                let (owner, label) = (waiter.owner, waiter.label);
                let next = Holder::claimant(owner, token, label, waiter.terms, now);
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
    fn enqueue(&mut self, ask: &Ask<'_, W>, owner_ids: &mut OwnerIds) -> Option<OwnerId> {
        if let Some(owner) = ask.owner
            && self.queue.contains(owner)
        {
            return Some(owner);
        }
        let handle = ask.queue_with?.clone();
        let owner = owner_ids.next();
        self.queue.push(QueuedWaiter {
            owner,
            label: ask.label.clone(),
            terms: ask.terms,
            handle,
        });
        Some(owner)
    }
}

/// The next token, above all that were granted before.
fn mint(last: &mut FencingToken) -> FencingToken {
    *last = FencingToken::new(last.get() + u64::from(FencingToken::STEP));
    *last
}
