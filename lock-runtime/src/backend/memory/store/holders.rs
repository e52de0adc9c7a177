//! The holders of one lock: one exclusive holder, or several with shares.

use crate::backend::memory::lease_watch::LeaseWatch;
use crate::backend::memory::store::holder::Holder;
use crate::backend::memory::store::phase::Phase;
use crate::background::moment::Moment;
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::{Share, record};

/// The holders of one lock, by their owner ids.
#[derive(Debug, Default)]
pub(crate) enum Holders {
    /// The lock is free, between two holders.
    #[default]
    None,
    Exclusive(Holder),
    Shared(Phase),
}

impl Holders {
    /// Returns whether there is room for a share, or, with `None`, for an exclusive caller.
    pub(crate) fn has_room_for(&self, share: Option<Share>) -> bool {
        match (self, share) {
            (Holders::None, _) => true,
            (Holders::Shared(phase), Some(share)) => phase.has_room_for(share),
            _ => false,
        }
    }

    /// Adds a holder. There must be room for it.
    pub(crate) fn admit(&mut self, holder: Holder, share: Option<Share>, now: Moment) {
        debug_assert!(self.has_room_for(share), "{share:?} does not fit");
        match (&mut *self, share) {
            (Holders::Shared(phase), Some(share)) => phase.join(holder, share),
            (_, Some(share)) => *self = Holders::Shared(Phase::begin(holder, share, now)),
            (_, None) => *self = Holders::Exclusive(holder),
        }
    }

    pub(crate) fn remove(&mut self, owner: OwnerId) -> Option<Holder> {
        if let Holders::Shared(phase) = self {
            let holder = phase.remove(owner);
            if phase.is_empty() {
                *self = Holders::None;
            }
            return holder;
        }
        match std::mem::take(self) {
            Holders::Exclusive(holder) if holder.owner == owner => Some(holder),
            other => {
                *self = other;
                None
            }
        }
    }

    /// Turns an exclusive holder into a reader, which begins a phase.
    pub(crate) fn downgrade(&mut self, token: FencingToken, now: Moment) {
        *self = match std::mem::take(self) {
            Holders::Exclusive(mut holder) => {
                holder.token = token;
                Holders::Shared(Phase::begin(holder, Share::READ, now))
            }
            other => other,
        };
    }

    /// Changes a holder, and with it perhaps the end of its lease.
    pub(crate) fn change<T>(
        &mut self,
        owner: OwnerId,
        change: impl FnOnce(&mut Holder) -> T,
    ) -> Option<T> {
        match self {
            Holders::Exclusive(holder) if holder.owner == owner => Some(change(holder)),
            Holders::Shared(phase) => phase.change(owner, change),
            _ => None,
        }
    }

    pub(crate) fn is_free(&self) -> bool {
        matches!(self, Holders::None)
    }

    /// Returns the token of the holders that share the lock.
    pub(crate) fn shared_token(&self) -> Option<FencingToken> {
        match self {
            Holders::Shared(phase) => Some(phase.token),
            _ => None,
        }
    }

    pub(crate) fn get(&self, owner: OwnerId) -> Option<&Holder> {
        match self {
            Holders::Exclusive(holder) => Some(holder).filter(|holder| holder.owner == owner),
            Holders::Shared(phase) => phase.get(owner),
            Holders::None => None,
        }
    }

    /// Returns the watch of a holder, or the empty place for it.
    pub(crate) fn watch_mut(&mut self, owner: OwnerId) -> Option<&mut Option<LeaseWatch>> {
        match self {
            Holders::Exclusive(holder) if holder.owner == owner => Some(&mut holder.watch),
            Holders::Shared(phase) => phase.watch_mut(owner),
            _ => None,
        }
    }

    pub(crate) fn watches(&self) -> impl Iterator<Item = &LeaseWatch> {
        let (alone, together) = match self {
            Holders::None => (None, None),
            Holders::Exclusive(holder) => (Some(holder), None),
            Holders::Shared(phase) => (None, Some(phase.holders())),
        };
        let holders = alone.into_iter().chain(together.into_iter().flatten());
        holders.filter_map(|holder| holder.watch.as_ref())
    }

    /// Iterates over the holders, each with its number of permits.
    pub(crate) fn each(&self) -> impl Iterator<Item = (u32, &Holder)> {
        let (alone, together) = match self {
            Holders::None => (None, None),
            Holders::Exclusive(holder) => (Some((1, holder)), None),
            Holders::Shared(phase) => (None, Some(phase.shares())),
        };
        alone.into_iter().chain(together.into_iter().flatten())
    }

    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Holders::Shared(_))
    }

    /// Returns a holder whose lease has expired.
    pub(crate) fn lapsed(&self, now: Moment) -> Option<OwnerId> {
        let (expires_at, owner) = match self {
            Holders::None => return None,
            Holders::Exclusive(holder) => (holder.expires_at, holder.owner),
            Holders::Shared(phase) => phase.first_lapse()?,
        };
        (now >= expires_at).then_some(owner)
    }

    /// Returns the holder whose expiry may make room for a waiter, if no holder leaves or is extended before. A share
    /// with a limit may fit as soon as the first share has expired, any other waiter only when all have.
    pub(crate) fn in_the_way(&self, share: Option<Share>) -> Option<&Holder> {
        let (phase, limit) = match self {
            Holders::None => return None,
            Holders::Exclusive(holder) => return Some(holder),
            Holders::Shared(phase) => (phase, share.and_then(Share::limit)),
        };
        let (_, owner) = match limit {
            Some(_) => phase.first_lapse()?,
            None => phase.last_lapse()?,
        };
        phase.get(owner)
    }

    /// Describes the holders to a waiter for this share.
    pub(crate) fn seen_by(&self, share: Option<Share>, now: Moment) -> record::Holder {
        match self {
            Holders::None => unreachable!("a free lock is granted at once"),
            Holders::Exclusive(holder) => record::Holder::Ours(holder.label.as_ref().to_owned()),
            Holders::Shared(phase) => {
                let limit = share.and_then(Share::limit);
                record::Holder::Shared(phase.seen_by(limit, now))
            }
        }
    }
}
