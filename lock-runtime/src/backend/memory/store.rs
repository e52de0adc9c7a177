//! The locks of one process, with their holders and queues. Decides the effects of each request.
//!
//! The store only decides. The time is an argument, and each answer comes with its [`Effects`], which the caller
//! carries out: the store itself wakes no waiter, sets no timer and takes no mutex. It keeps a [`LeaseWatch`] for each
//! holder and a `Notify` for each waiter, and returns those that a decision affects.
//!
//! A lock is in the map while it has holders: an exclusive one, or several that share it. A queue only exists behind
//! holders that leave no room for its first waiter. The queue is first come, first served: no share overtakes a waiter.
//! A waiter that is granted a lock confirms the grant with its next attempt. A waiter whose wait is over blocks nobody:
//! on a server it has left the queue, whether or not its caller is polled.

pub(crate) mod decision;
pub(crate) mod holder;
mod holders;
pub(crate) mod lock_states;
mod owner_ids;
mod phase;
pub(crate) mod queue;
pub(crate) mod store_request;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

use crate::backend::memory::lease_watch::LeaseWatch;
use crate::backend::memory::store::decision::{Decision, Effects};
use crate::backend::memory::store::holder::{Grant, Holder};
use crate::backend::memory::store::holders::Holders;
use crate::backend::memory::store::owner_ids::OwnerIds;
use crate::backend::memory::store::queue::{Queue, QueuedWaiter};
use crate::backend::memory::store::store_request::{Ask, Busy, LockOwner, RenewOutcome};
use crate::background::moment::Moment;
use crate::lease::Share;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::schedule::LeaseTerms;

/// Every lock that is held.
#[derive(Debug)]
pub(crate) struct Store {
    locks: HashMap<String, LockState>,
    last_token: FencingToken,
    owner_ids: OwnerIds,
    /// The reserved locks, sorted by the end of their reservation.
    reserved: BTreeSet<(Moment, String)>,
}

#[derive(Debug)]
struct LockState {
    holders: Holders,
    queue: Queue,
}

impl Default for Store {
    fn default() -> Self {
        Store {
            locks: HashMap::new(),
            last_token: FencingToken::new(0),
            owner_ids: OwnerIds::default(),
            reserved: BTreeSet::new(),
        }
    }
}

impl Store {
    /// Attempts to acquire a lock.
    ///
    /// All attempts of an acquisition make the same request, as on a server. The first attempt may queue, and an
    /// attempt that finds a grant confirms it. A waiter whose grant has expired queues again.
    pub(crate) fn acquire(&mut self, ask: &Ask<'_>, now: Moment) -> Decision<Result<Grant, Busy>> {
        let effects = self.expire(ask.key, now);
        let lock = match self.locks.get_mut(ask.key) {
            Some(lock) => lock,
            None => self.locks.entry(ask.key.to_owned()).or_default(),
        };
        if let Some(owner) = ask.owner
            && let Some(grant) = lock.holders.change(owner, Holder::confirm).flatten()
        {
            return effects.with(Ok(grant));
        }
        if lock.queue.is_empty() && lock.holders.has_room_for(ask.share) {
            let owner = self.owner_ids.next();
            let token = lock.token(&mut self.last_token);
            let (holder, grant) = Holder::new(owner, token, ask.label.clone(), ask.terms, now);
            lock.holders.admit(holder, ask.share, now);
            return effects.with(Ok(grant));
        }
        let in_the_way = lock.in_the_way(ask.share);
        let (expires_at, ttl) = in_the_way.map_or((Moment::FIRST, Duration::ZERO), |holder| {
            (holder.expires_at, holder.ttl)
        });
        effects.with(Err(Busy {
            owner: lock.enqueue(ask, &mut self.owner_ids, now),
            holder: lock.holders.seen_by(ask.share, now),
            expires_at,
            ttl,
            first_leaves_at: lock.queue.first_leaves_at().unwrap_or(Moment::NEVER),
        }))
    }

    /// Ends a waiter, which then neither queues nor has a grant.
    pub(crate) fn end(&mut self, waiter: LockOwner<'_>, now: Moment) -> Decision<()> {
        let mut effects = self.expire(waiter.key, now);
        if let Some(lock) = self.locks.get_mut(waiter.key) {
            let holder = lock.holders.get(waiter.id);
            if holder.is_some_and(Holder::is_claimant) {
                lock.holders.remove(waiter.id);
            } else {
                lock.queue.remove(waiter.id);
            }
            self.admit_waiters(waiter.key, now, &mut effects);
        }
        effects.with(())
    }

    /// Begins a holder's lease at `now`, with these terms and this token. Returns `None` if the lock is no longer held.
    pub(crate) fn begin(
        &mut self,
        holder: LockOwner<'_>,
        terms: LeaseTerms,
        token: FencingToken,
        now: Moment,
    ) -> Decision<Option<Grant>> {
        let mut effects = self.expire(holder.key, now);
        let lock = self.locks.get_mut(holder.key);
        let begin = |holder: &mut Holder| holder.begin_at(terms, token, now);
        let grant = lock.and_then(|lock| {
            let grant = lock.holders.change(holder.id, begin);
            // Now that the lease has a deadline, the first waiter can rely on it.
            effects.wake.extend(lock.first());
            grant
        });
        effects.with(grant)
    }

    /// Stores the watch of a holder, or returns it if the lock is no longer held.
    pub(crate) fn register(
        &mut self,
        holder: LockOwner<'_>,
        watch: LeaseWatch,
    ) -> Option<LeaseWatch> {
        let lock = self.locks.get_mut(holder.key);
        match lock.and_then(|lock| lock.holders.watch_mut(holder.id)) {
            Some(registered) => registered.replace(watch),
            None => Some(watch),
        }
    }

    /// Confirms that a lock is held, and extends its lease if it can expire.
    pub(crate) fn renew(
        &mut self,
        holder: LockOwner<'_>,
        now: Moment,
    ) -> Decision<RenewOutcome<'_>> {
        let mut effects = self.expire(holder.key, now);
        let Some(lock) = self.locks.get_mut(holder.key) else {
            return effects.with(RenewOutcome::NotHeld);
        };
        let extend = |holder: &mut Holder| holder.extend(now);
        match lock.holders.change(holder.id, extend) {
            None => effects.with(RenewOutcome::NotHeld),
            Some(None) => effects.with(RenewOutcome::Unchanged),
            Some(Some(deadline)) => {
                effects.wake.extend(lock.first());
                let watch = lock.holders.watch_mut(holder.id).and_then(Option::as_mut);
                effects.with(RenewOutcome::Extended { deadline, watch })
            }
        }
    }

    /// Releases a lock, and grants it to the first waiter. Returns `false` if it was not held.
    pub(crate) fn release(&mut self, holder: LockOwner<'_>, now: Moment) -> Decision<bool> {
        let mut effects = self.expire(holder.key, now);
        let lock = self.locks.get_mut(holder.key);
        let Some(ended) = lock.and_then(|lock| lock.holders.remove(holder.id)) else {
            return effects.with(false);
        };
        effects.released.extend(ended.watch);
        self.admit_waiters(holder.key, now, &mut effects);
        effects.with(true)
    }

    /// Turns an exclusive holder into a reader, with the token of a new phase, and admits the readers at the head of
    /// the queue. The holder needs a new watch. A holder that already shares the lock stays as it is. Returns `None` if
    /// the lock was not held.
    pub(crate) fn downgrade(
        &mut self,
        writer: LockOwner<'_>,
        now: Moment,
    ) -> Decision<Option<FencingToken>> {
        let mut effects = self.expire(writer.key, now);
        let Some(lock) = self.locks.get_mut(writer.key) else {
            return effects.with(None);
        };
        let Some(watch) = lock.holders.watch_mut(writer.id) else {
            return effects.with(None);
        };
        effects.released.extend(watch.take());
        let token = lock.token(&mut self.last_token);
        lock.holders.downgrade(token, now);
        self.admit_waiters(writer.key, now, &mut effects);
        effects.with(Some(token))
    }

    /// Keeps a lock reserved for a time after its holder is done. Returns `false` if it was not held.
    pub(crate) fn reserve(
        &mut self,
        holder: LockOwner<'_>,
        time: Duration,
        now: Moment,
    ) -> Decision<bool> {
        let mut effects = self.expire(holder.key, now);
        self.expire_reservations(now, &mut effects);
        let (nobody, until) = (self.owner_ids.next(), now + time);
        let Some(lock) = self.locks.get_mut(holder.key) else {
            return effects.with(false);
        };
        let reserve = |holder: &mut Holder| holder.reserve(nobody, time, now);
        let Some(watch) = lock.holders.change(holder.id, reserve) else {
            return effects.with(false);
        };
        effects.released.extend(watch);
        effects.wake.extend(lock.first());
        self.reserved.insert((until, holder.key.to_owned()));
        effects.with(true)
    }

    /// Ends a lease that is renewed one ttl from now: its holder is gone, and reports nothing.
    pub(crate) fn orphan(
        &mut self,
        holder: LockOwner<'_>,
        ttl: Duration,
        now: Moment,
    ) -> Decision<()> {
        let mut effects = self.expire(holder.key, now);
        if let Some(lock) = self.locks.get_mut(holder.key) {
            let orphan = |holder: &mut Holder| holder.orphan(now + ttl);
            let watch = lock.holders.change(holder.id, orphan);
            effects.released.extend(watch.flatten());
            effects.wake.extend(lock.first());
        }
        effects.with(())
    }

    /// Ends the reservations that are over, in case no caller asks for these locks again.
    fn expire_reservations(&mut self, now: Moment, effects: &mut Effects) {
        while let Some((until, _)) = self.reserved.first()
            && *until <= now
            && let Some((_, key)) = self.reserved.pop_first()
        {
            effects.extend(self.expire(&key, now));
        }
    }

    /// Returns the watches of the holders of `key`.
    pub(crate) fn watches_of(
        &mut self,
        key: &str,
        now: Moment,
    ) -> Decision<impl Iterator<Item = &LeaseWatch>> {
        let effects = self.expire(key, now);
        let locks = self.locks.get(key).into_iter();
        effects.with(locks.flat_map(|lock| lock.holders.watches()))
    }

    /// Returns the watches of all holders.
    pub(crate) fn watches(&self) -> impl Iterator<Item = &LeaseWatch> {
        self.locks.values().flat_map(|lock| lock.holders.watches())
    }

    /// Ends the leases of `key` that have expired, and the waits that have no time left.
    fn expire(&mut self, key: &str, now: Moment) -> Effects {
        let mut effects = Effects::none();
        let Some(lock) = self.locks.get_mut(key) else {
            return effects;
        };
        let leaves_at = lock.queue.first_leaves_at();
        let mut has_changed = leaves_at.is_some_and(|leaves_at| leaves_at <= now);
        while let Some(owner) = lock.holders.lapsed(now) {
            let ended = lock.holders.remove(owner);
            effects.expired.extend(ended.and_then(|ended| ended.watch));
            has_changed = true;
        }
        if has_changed {
            self.admit_waiters(key, now, &mut effects);
        }
        effects
    }

    /// Grants the lock to waiters, from the head of the queue to the first that does not fit. Removes the lock if it is
    /// free afterwards.
    fn admit_waiters(&mut self, key: &str, now: Moment, effects: &mut Effects) {
        let Some(lock) = self.locks.get_mut(key) else {
            return;
        };
        while let Some(waiter) = lock.next_to_admit(now, effects) {
            let token = lock.token(&mut self.last_token);
            let (owner, label) = (waiter.owner, waiter.label);
            let holder = Holder::claimant(owner, token, label, waiter.terms, now);
            lock.holders.admit(holder, waiter.share, now);
            effects.wake.push(waiter.notify);
        }
        effects.wake.extend(lock.first());
        if lock.holders.is_free() {
            self.locks.remove(key);
        }
    }
}

impl Default for LockState {
    fn default() -> Self {
        LockState {
            holders: Holders::None,
            queue: Queue::new(),
        }
    }
}

impl LockState {
    /// Returns the token of the next holder: the token of the holders that it joins, or a new one.
    fn token(&self, last: &mut FencingToken) -> FencingToken {
        self.holders.shared_token().unwrap_or_else(|| mint(last))
    }

    /// Removes the first waiter from the queue if there is room for it. Waiters whose wait is over leave the queue.
    /// They are woken, since their clocks may differ from this caller's.
    fn next_to_admit(&mut self, now: Moment, effects: &mut Effects) -> Option<QueuedWaiter> {
        while let Some(over) = self.queue.pop_over(now) {
            effects.wake.push(over.notify);
        }
        let first = self.queue.first()?;
        let is_next = self.holders.has_room_for(first.share);
        is_next.then(|| self.queue.pop()).flatten()
    }

    /// Returns the notification of the first waiter.
    fn first(&self) -> Option<Arc<Notify>> {
        self.queue.first().map(|waiter| waiter.notify.clone())
    }

    /// Returns the holder in the way of the first waiter, or of this caller if nobody queues. All other waiters wait
    /// for that holder's end too, since the first waiter's own thread may be blocked then.
    fn in_the_way(&self, share: Option<Share>) -> Option<&Holder> {
        let first = self.queue.first().map_or(share, |waiter| waiter.share);
        self.holders.in_the_way(first)
    }

    /// Returns the caller's place in the queue. A caller without one gets a place at the back.
    fn enqueue(&mut self, ask: &Ask<'_>, owner_ids: &mut OwnerIds, now: Moment) -> Option<OwnerId> {
        if let Some(owner) = ask.owner
            && self.queue.contains(owner)
        {
            return Some(owner);
        }
        let (notify, until) = ask.queue_with?;
        let owner = owner_ids.next();
        self.queue.push(QueuedWaiter {
            owner,
            label: ask.label.clone(),
            share: ask.share,
            terms: ask.terms,
            since: now,
            until,
            notify: notify.clone(),
        });
        Some(owner)
    }
}

/// Mints the next token, higher than all before.
fn mint(last: &mut FencingToken) -> FencingToken {
    *last = FencingToken::new(last.get() + u64::from(FencingToken::STEP));
    *last
}
