//! Reports the state of a store's locks, and revokes them.

use super::{LockState, Store};
use crate::backend::memory::lease_watch::LeaseWatch;
use crate::backend::memory::store::decision::{Decision, Effects};
use crate::backend::memory::store::store_request::LockOwner;
use crate::background::moment::Moment;
use crate::key::LockKey;
use crate::lease::fencing_token::FencingToken;
use crate::state::{self, HolderKind, HolderRef, Waiter};

/// The maximum number of holders, and of waiters, that are shown.
const MOST: usize = 128;

/// The outcome of a revocation.
#[derive(Debug)]
pub(crate) enum Taken {
    /// The lock was taken from the holders with these watches.
    From {
        watches: Vec<LeaseWatch>,
        handed_off: bool,
    },
    Changed,
    NotHeld,
}

impl Store {
    /// Returns the keys of all locks that are or were held, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.locks.keys().map(String::as_str)
    }

    /// Returns the state of a lock at `now`.
    pub(crate) fn look(&mut self, key: &LockKey, now: Moment) -> Decision<state::LockState> {
        let effects = self.expire(key.as_str(), now);
        let state = self.show(key, now);
        effects.with(state)
    }

    /// Returns the state of a lock as the last decision left it.
    pub(crate) fn show(&self, key: &LockKey, now: Moment) -> state::LockState {
        let mut state = state::LockState::free(key.clone());
        if let Some(lock) = self.locks.get(key.as_str()) {
            lock.describe(&mut state, now);
        }
        state
    }

    /// Returns whether an owner holds a lock at `now`.
    pub(crate) fn is_held_by(&mut self, owner: LockOwner<'_>, now: Moment) -> Decision<bool> {
        let effects = self.expire(owner.key, now);
        let lock = self.locks.get(owner.key);
        effects.with(lock.is_some_and(|lock| lock.holders.get(owner.id).is_some()))
    }

    /// Iterates over the holders' watches, with the time since when each holds and the number of waiters behind it.
    pub(crate) fn watches_since(&self) -> impl Iterator<Item = (&LeaseWatch, Moment, usize)> {
        let locks = self.locks.values();
        locks.flat_map(|lock| {
            let holders = lock.holders.each();
            holders.filter_map(|(_, holder)| {
                Some((holder.watch.as_ref()?, holder.at, lock.queue.len()))
            })
        })
    }

    /// Takes a lock from its holder, or from all holders that share it, if they have the token that the operator saw.
    pub(crate) fn revoke(&mut self, key: &str, seen: FencingToken, now: Moment) -> Decision<Taken> {
        let mut effects = self.expire(key, now);
        let Some(lock) = self.locks.get_mut(key) else {
            return effects.with(Taken::NotHeld);
        };
        let Some(token) = lock.holders.each().map(|(_, holder)| holder.token).next() else {
            return effects.with(Taken::NotHeld);
        };
        if !seen.is_turn_of(token) {
            return effects.with(Taken::Changed);
        }
        let owners: Vec<_> = lock
            .holders
            .each()
            .map(|(_, holder)| holder.owner)
            .collect();
        let removed = owners
            .into_iter()
            .filter_map(|owner| lock.holders.remove(owner));
        let watches = removed.filter_map(|holder| holder.watch).collect();
        let handed_off = self.serve(key, now, &mut effects);
        effects.with(Taken::From {
            watches,
            handed_off,
        })
    }

    /// Admits waiters. Returns whether one of them has the lock.
    fn serve(&mut self, key: &str, now: Moment, effects: &mut Effects) -> bool {
        self.admit_waiters(key, now, effects);
        self.locks
            .get(key)
            .is_some_and(|lock| !lock.holders.is_free())
    }
}

impl LockState {
    fn describe(&self, state: &mut state::LockState, now: Moment) {
        let is_shared = self.holders.is_shared();
        for (permits, holder) in self.holders.each() {
            if state.holders.len() == MOST {
                state.more_holders += 1;
                continue;
            }
            let kind = match (is_shared, holder.is_reserved) {
                (true, _) => HolderKind::Share,
                (false, true) => HolderKind::Reserved,
                (false, false) => HolderKind::Exclusive,
            };
            let is_endless = holder.expires_at == Moment::NEVER;
            state.holders.push(state::Holder {
                label: holder.label.to_string(),
                token: Some(holder.token),
                age: Some(now.since(holder.at)),
                remaining: (!is_endless).then(|| holder.expires_at.since(now)),
                kind,
                permits,
                reference: Some(HolderRef::Token(holder.token)),
                other_tokens: Vec::new(),
                hash: None,
            });
            state.last_token = state.last_token.max(Some(holder.token));
        }
        let waiters = self.queue.iter().take(MOST).map(|waiter| Waiter {
            label: waiter.label.to_string(),
            waiting: now.since(waiter.since),
            last_seen: std::time::Duration::ZERO,
        });
        state.waiters = waiters.collect();
        state.more_waiters = self.queue.len() - state.waiters.len();
    }
}
