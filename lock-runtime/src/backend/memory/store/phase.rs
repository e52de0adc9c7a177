//! The holders of one shared lock, from the first share to the last.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::backend::memory::lease_watch::LeaseWatch;
use crate::backend::memory::store::holder::Holder;
use crate::background::moment::Moment;
use crate::lease::Share;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::record::{Counted, Shared};

/// The time from the first share of a lock to the last, and the holders. All of them have one token.
#[derive(Debug)]
pub(crate) struct Phase {
    pub(crate) token: FencingToken,
    /// The label of the holder that began the phase, and may have left.
    label: Arc<str>,
    since: Moment,
    /// The number of permits of all holders together.
    taken: u64,
    shares: BTreeMap<OwnerId, HeldShare>,
    /// The shares by expiry: with many holders, each attempt asks for the first one.
    lapses: BTreeSet<(Moment, OwnerId)>,
}

#[derive(Debug)]
struct HeldShare {
    take: u32,
    holder: Holder,
}

impl Phase {
    pub(crate) fn begin(holder: Holder, share: Share, now: Moment) -> Phase {
        let mut phase = Phase {
            token: holder.token,
            label: holder.label.clone(),
            since: now,
            taken: 0,
            shares: BTreeMap::new(),
            lapses: BTreeSet::new(),
        };
        phase.join(holder, share);
        phase
    }

    pub(crate) fn join(&mut self, holder: Holder, share: Share) {
        let take = share.take();
        self.taken += u64::from(take);
        self.lapses.insert((holder.expires_at, holder.owner));
        self.shares.insert(holder.owner, HeldShare { take, holder });
    }

    pub(crate) fn remove(&mut self, owner: OwnerId) -> Option<Holder> {
        let HeldShare { take, holder } = self.shares.remove(&owner)?;
        self.taken -= u64::from(take);
        self.lapses.remove(&(holder.expires_at, owner));
        Some(holder)
    }

    /// Changes a holder, and with it perhaps the end of its lease.
    pub(crate) fn change<T>(
        &mut self,
        owner: OwnerId,
        change: impl FnOnce(&mut Holder) -> T,
    ) -> Option<T> {
        let HeldShare { holder, .. } = self.shares.get_mut(&owner)?;
        self.lapses.remove(&(holder.expires_at, owner));
        let outcome = change(holder);
        self.lapses.insert((holder.expires_at, owner));
        Some(outcome)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    pub(crate) fn has_room_for(&self, share: Share) -> bool {
        share.fits(self.taken)
    }

    pub(crate) fn get(&self, owner: OwnerId) -> Option<&Holder> {
        self.shares.get(&owner).map(|share| &share.holder)
    }

    /// Returns the watch of a holder, or the empty place for it.
    pub(crate) fn watch_mut(&mut self, owner: OwnerId) -> Option<&mut Option<LeaseWatch>> {
        let share = self.shares.get_mut(&owner)?;
        Some(&mut share.holder.watch)
    }

    pub(crate) fn holders(&self) -> impl Iterator<Item = &Holder> {
        self.shares.values().map(|share| &share.holder)
    }

    /// Iterates over the holders, each with its number of permits.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (u32, &Holder)> {
        self.shares
            .values()
            .map(|share| (share.take, &share.holder))
    }

    /// Returns the first share to expire.
    pub(crate) fn first_lapse(&self) -> Option<(Moment, OwnerId)> {
        self.lapses.first().copied()
    }

    /// Returns the last share to expire.
    pub(crate) fn last_lapse(&self) -> Option<(Moment, OwnerId)> {
        self.lapses.last().copied()
    }

    /// Describes the shares to a waiter with this limit.
    pub(crate) fn seen_by(&self, limit: Option<u32>, now: Moment) -> Shared {
        Shared {
            label: self.label.as_ref().to_owned(),
            counted: Some(Counted {
                owners: self.shares.len() as u64,
                taken: self.taken,
                limit,
                since: now.since(self.since),
            }),
        }
    }
}
