//! Operators' commands for a memory client.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::backend::memory::lease_watch::LeaseWatch;
use crate::backend::memory::store::lock_states::Taken;
use crate::backend::memory::{Memory, pattern};
use crate::backend::watching::WatchReader;
use crate::backend::wire::inspection::{Cursor, Line, Listing, RevokeReply};
use crate::background::clock::Clock;
use crate::key::{LockKey, RecordNames};
use crate::lease::{LossReason, RevocationNumber, RevokedBy};
use crate::state::{HolderRef, LocalHold, LockState};

/// How many lines of the audit are kept.
const KEPT: usize = 10_000;

/// The wall clock, for readers of the audit, who compare it with other clocks.
#[expect(clippy::disallowed_methods, reason = "no lease is counted by it")]
pub(crate) fn wall_clock() -> SystemTime {
    SystemTime::now()
}

impl Memory {
    /// Returns the current state of a lock.
    pub(crate) fn inspect(&self, key: &LockKey) -> LockState {
        let now = Clock::Tokio.now();
        self.store.decide(|store| store.look(key, now))
    }

    /// Begins to watch a lock.
    pub(crate) fn watch(&self, key: &LockKey, names: &RecordNames) -> Arc<WatchReader> {
        let reader = self.store.watch(key, names);
        self.inspect(key);
        reader
    }

    pub(crate) fn stop_watching(&self) {
        self.store.stop_watching();
    }

    /// Returns the next locks of a listing.
    pub(crate) fn page(&self, listing: &Listing, cursor: &mut Cursor) -> Vec<LockState> {
        if cursor.nodes.is_none() {
            let store = self.store.lock();
            let mut keys: Vec<String> = store.keys().map(str::to_owned).collect();
            drop(store);
            // Without the mutex, which every call needs: matching a pattern may take long.
            keys.retain(|key| pattern::matches(listing.keys.as_bytes(), key.as_bytes()));
            cursor.begin(keys);
        }
        let keys = cursor.nodes.get_or_insert_default();
        let count = usize::try_from(listing.count)
            .unwrap_or(usize::MAX)
            .min(keys.len());
        let page = keys.split_off(keys.len() - count);
        cursor.is_over = keys.is_empty();
        let states = page.into_iter().rev().map(|key| self.inspect(&key.into()));
        states.filter(LockState::is_held).collect()
    }

    pub(crate) fn revoke_holder(
        &self,
        key: &LockKey,
        reference: HolderRef,
        by: RevokedBy,
    ) -> RevokeReply {
        let Some(token) = reference.token() else {
            return RevokeReply::Changed;
        };
        let now = Clock::Tokio.now();
        let taken = self
            .store
            .decide(|store| store.revoke(key.as_str(), token, now));
        let (watches, handed_off) = match taken {
            Taken::NotHeld => return RevokeReply::NotHeld,
            Taken::Changed => return RevokeReply::Changed,
            Taken::From {
                watches,
                handed_off,
            } => (watches, handed_off),
        };
        // Without the mutex: subscribers run inside, and may ask for locks.
        let reason = LossReason::Revoked(RevocationNumber::of(by));
        for lease in watches.iter().filter_map(LeaseWatch::lease) {
            lease.lose(reason);
        }
        if handed_off {
            RevokeReply::HandedOff(None)
        } else {
            RevokeReply::Freed(None)
        }
    }

    /// Returns the locks that this client holds.
    pub(crate) fn held(&self) -> Vec<LocalHold> {
        let mut held: Vec<LocalHold> = Vec::new();
        let mut seen = Vec::new();
        let leases: Vec<_> = {
            let store = self.store.lock();
            let watches = store.watches_since();
            watches
                .filter_map(|(watch, since, waiting)| Some((watch.lease()?, since, waiting)))
                .collect()
        };
        for (lease, since, waiting) in leases {
            let is_known = seen.iter().any(|known| Arc::ptr_eq(known, &lease));
            if is_known || !lease.is_delivered() || lease.is_over() {
                continue;
            }
            held.push(LocalHold {
                keys: lease.keys.iter().cloned().collect(),
                function: lease.trace.labels.function(),
                token: lease.known_token(),
                age: lease.now().since(since),
                remaining: lease.remaining(),
                waiting_callers: waiting,
            });
            // A lease that holds several locks is listed once for each of them.
            if !lease.keys.is_one() {
                seen.push(lease);
            }
        }
        held
    }

    pub(crate) fn append(&self, line: &Line) {
        let mut audit = self.audit.lock();
        if audit.len() == KEPT {
            audit.pop_front();
        }
        let at = wall_clock();
        audit.push_back(Line { at, ..line.clone() });
    }

    /// The lines of the audit that are no older than `since`.
    pub(crate) fn lines(&self, since: Option<Duration>, cursor: &mut Cursor) -> Vec<Line> {
        cursor.is_over = true;
        let first = since.and_then(|since| wall_clock().checked_sub(since));
        let is_new = |line: &&Line| first.is_none_or(|first| line.at >= first);
        self.audit.lock().iter().filter(is_new).cloned().collect()
    }
}
