//! Tracks every lease of a client, and when each of them needs attention. Time is an argument.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use foldhash::HashMap;

use crate::backend::engine::holding::Done;
use crate::backend::remote::lease_entry::LeaseEntry;
use crate::backend::remote::retained::RetainedLeases;
use crate::backend::wire::Renewal;
use crate::backend::wire::reply::Answered;
use crate::background::moment::Moment;
use crate::control::is_removed;
use crate::key::{LockName, OneOrMore, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::{AcquisitionId, OwnerId};
use crate::lease::record::Grant;
use crate::lease::schedule::{Due, Extension};
use crate::lease::{Lease, Mode, Request};

/// How many confirmations may be outstanding: enough to keep a server busy, too few to flood a slow one.
const MAX_CONFIRMATIONS: usize = 1024;

/// The leases of a client by owner.
#[derive(Debug, Default)]
pub(crate) struct LeaseRegistry {
    /// Boxed, since a map has up to twice as many places as entries, and moves all of them when it grows.
    entries: HashMap<AcquisitionId, Box<LeaseEntry>>,
    /// Every entry with a due time, sorted by that.
    agenda: BTreeSet<(Moment, AcquisitionId)>,
    /// The leases that may have to be confirmed now.
    doubtful: VecDeque<AcquisitionId>,
    /// The number of outstanding confirmations.
    confirming: usize,
    /// When the last connection broke. The answers to commands that were sent before prove nothing about the next
    /// server.
    broke_at: Option<Moment>,
    /// The leases that no caller holds.
    pub(crate) retained: RetainedLeases,
    /// When the watchdog will check for due work, unless it is woken earlier.
    planned: Option<Moment>,
}

#[derive(Debug, Default)]
pub(crate) struct DueWork {
    pub(crate) renewals: Vec<Renewal>,
    /// The leases that are renewed again while a renewal is outstanding, with the number of renewals that failed or are
    /// late.
    pub(crate) overdue: Vec<(Arc<Lease>, u32)>,
    pub(crate) lost: Vec<OwnerId>,
    /// When more work is due; `None` without a lease. It is in the past if more than the requested amount was due.
    pub(crate) next: Option<Moment>,
}

impl LeaseRegistry {
    /// Adds a lease. Its `granted_at` is the time when its acquire was sent.
    pub(crate) fn insert(&mut self, entry: LeaseEntry) {
        let mut entry = Box::new(entry);
        if self.is_before_the_break(entry.holding.granted_at()) {
            entry.doubt();
            self.doubtful.push_back(entry.id());
        }
        self.put(entry);
    }

    fn put(&mut self, mut entry: Box<LeaseEntry>) {
        let id = entry.id();
        let due = entry.schedule.next_due();
        entry.due = Some(due);
        self.entries.insert(id, entry);
        self.agenda.insert((due, id));
    }

    /// Removes a lease, which is then no longer renewed. Returns `None` if it was handed over.
    pub(crate) fn remove(&mut self, lease: &Lease) -> Option<Box<LeaseEntry>> {
        self.entry(lease)?;
        let id = lease.owner_id.acquisition();
        let mut entry = self.entries.remove(&id)?;
        if let Some(due) = entry.due.take() {
            self.agenda.remove(&(due, id));
        }
        self.confirming -= usize::from(entry.holding.confirmation_is_over());
        Some(entry)
    }

    /// Moves the watchdog's planned check forward if work is due before it. Returns whether it did, so that the caller
    /// wakes the watchdog.
    pub(crate) fn plan_earlier(&mut self) -> bool {
        let next = self.next();
        let is_earlier = next.is_some_and(|next| self.planned.is_none_or(|planned| next < planned));
        if is_earlier {
            self.planned = next;
        }
        is_earlier
    }

    /// Notes when the watchdog will check again; `None` if only a wake-up makes it check.
    pub(crate) fn plan(&mut self, planned: Option<Moment>) {
        self.planned = planned;
    }

    /// Puts these leases in doubt: their connection broke or their slot moved, so the next server may lack a renewal,
    /// or the lock itself. A retained lease is not worth a confirmation, so its retention ends.
    pub(crate) fn doubt(&mut self, now: Moment, concerns: &dyn Fn(&LockName) -> bool) {
        self.broke_at = Some(now);
        if !is_removed!(retained_after_a_move) {
            self.retained.expire(concerns);
        }
        let is_one = |entry: &&mut Box<LeaseEntry>| concerns(&entry.owner.names.first().lock);
        let concerned = self.entries.values_mut().filter(is_one);
        concerned.for_each(|entry| entry.doubt());
        self.confirm_all();
    }

    /// Notes that a connection exists again: confirmations that failed without one are due now.
    pub(crate) fn connected(&mut self) {
        self.confirm_all();
    }

    fn confirm_all(&mut self) {
        let entries = self.entries.iter();
        let open = entries.filter(|(_, entry)| entry.holding.is_unconfirmed());
        self.doubtful = open.map(|(&id, _)| id).collect();
    }

    /// Makes the confirmation of a lease due now.
    pub(crate) fn confirm_soon(&mut self, lease: &Lease) {
        if let Some(entry) = self.entry(lease) {
            entry.doubt();
            self.doubtful.push_back(lease.owner_id.acquisition());
        }
    }

    /// Returns whether there is a lease to confirm, and room for one more confirmation.
    pub(crate) fn may_confirm(&self) -> bool {
        self.confirming < MAX_CONFIRMATIONS && !self.doubtful.is_empty()
    }

    fn is_before_the_break(&self, sent: Moment) -> bool {
        self.broke_at.is_some_and(|broke| sent < broke)
    }

    /// Returns the entry of a lease, unless its grant was handed over to another lease.
    fn entry(&mut self, lease: &Lease) -> Option<&mut LeaseEntry> {
        let entry = self.entries.get_mut(&lease.owner_id.acquisition())?;
        Some(&mut **entry).filter(|entry| std::ptr::eq(&*entry.lease, lease))
    }

    /// Returns the lock whose local queue this holder heads.
    pub(crate) fn headed_queue(&mut self, lease: &Lease) -> Option<LockName> {
        let entry = self.entry(lease)?;
        entry
            .holding
            .heads_queue()
            .then(|| entry.owner.names.first().lock.clone())
    }

    /// Hands over the lease of a holder that is done to another caller, if that caller may have it. A grant has at most
    /// `turns` turns.
    pub(crate) fn hand_over(
        &mut self,
        lease: &Lease,
        request: &Request,
        turns: u32,
        now: Moment,
    ) -> Option<Arc<Lease>> {
        let entry = self.entries.get_mut(&lease.owner_id.acquisition())?;
        let is_current = std::ptr::eq(&*entry.lease, lease);
        let is_held = is_current && entry.due.is_some();
        if !is_held || entry.done(Some(&request.terms), turns, now) != Done::HandsOver {
            return None;
        }
        let next = entry.hand_over(request, now, &mut self.confirming);
        if entry.holding.is_in_doubt() {
            // The lease is confirmed when the caller gets it.
            entry.doubt();
        }
        self.reschedule(lease.owner_id);
        Some(next)
    }

    /// Retains a lease whose holder is done, for the client's next caller. Does so only if no other client is known to
    /// want the lock, and the lease is not in doubt.
    pub(crate) fn retain(&mut self, lease: &Lease, turns: u32, now: Moment) -> bool {
        let is_closed = self.retained.is_closed();
        let Some(entry) = self.entry(lease) else {
            return false;
        };
        if entry.due.is_none() || is_closed {
            return false;
        }
        let Done::Retains(time) = entry.done(None, turns, now) else {
            return false;
        };
        let Some(entry) = self.remove(lease) else {
            return false;
        };
        self.retained.insert(entry, now + time);
        true
    }

    /// Gives the retained lease of a lock to its next caller, if that caller may have it. A grant has at most `turns`
    /// turns.
    pub(crate) fn resume(
        &mut self,
        request: &Request,
        turns: u32,
        now: Moment,
    ) -> Option<Arc<Lease>> {
        let lock = &request.lock().names.lock;
        let (entry, until) = self.retained.get(lock)?;
        let is_over = now >= until || !entry.may_go_to(&request.terms, turns, now);
        if is_over && !is_removed!(retained_after_a_move) {
            return None;
        }
        let mut entry = self.retained.remove(lock)?;
        // No confirmation is due, since a broken connection would have ended the retention.
        let next = entry.hand_over(request, now, &mut self.confirming);
        self.put(entry);
        Some(next)
    }

    /// Returns the work that is due at `now`, up to `most` items. The caller must report the outcome of each renewal
    /// and each loss, and call this again by `next`.
    pub(crate) fn due(&mut self, now: Moment, most: usize) -> DueWork {
        let mut work = DueWork::default();
        while let Some(&(moment, id)) = self.agenda.first() {
            if moment > now || work.renewals.len() + work.lost.len() == most {
                break;
            }
            let Some(entry) = self.entries.get_mut(&id) else {
                self.agenda.remove(&(moment, id));
                continue;
            };
            let owner_id = entry.owner.id();
            if !entry.lease.is_delivered() {
                entry.schedule.postpone(now);
            }
            if entry.lease.is_over() {
                // Lost for another reason, such as a shutdown. It must not be renewed.
                work.lost.push(owner_id);
                self.unschedule(owner_id);
                continue;
            }
            match entry.schedule.due(now) {
                Due::At(_) => {}
                Due::Renew(extension) => {
                    if entry.holding.is_renewing() && !entry.schedule.is_quiet(now) {
                        let failures = entry.schedule.unconfirmed() - 1;
                        work.overdue.push((entry.lease.clone(), failures));
                    }
                    let renewal = entry.renew(extension, &mut self.confirming);
                    work.renewals.push(renewal);
                }
                Due::Lost => {
                    work.lost.push(owner_id);
                    self.unschedule(owner_id);
                    continue;
                }
            }
            self.reschedule(owner_id);
        }
        while work.renewals.len() + work.lost.len() < most
            && self.confirming < MAX_CONFIRMATIONS
            && let Some(id) = self.doubtful.pop_front()
        {
            work.renewals.extend(self.confirmation(id, now));
        }
        work.next = if self.may_confirm() {
            Some(now)
        } else {
            self.next()
        };
        work
    }

    /// Returns a renewal that shows whether a lease is still held, and makes up for a renewal that was lost.
    fn confirmation(&mut self, id: AcquisitionId, now: Moment) -> Option<Renewal> {
        let entry = self.entries.get_mut(&id)?;
        let is_held = entry.due.is_some() && !entry.lease.is_over();
        if !entry.holding.is_unconfirmed() || !is_held || !entry.lease.is_delivered() {
            return None;
        }
        let extension = entry.schedule.confirmation(now)?;
        let renewal = entry.renew(extension, &mut self.confirming);
        self.reschedule(renewal.owner_id);
        Some(renewal)
    }

    /// Keeps only the renewals of leases that were not lost, removed or downgraded meanwhile.
    pub(crate) fn keep_held(&self, renewals: &mut Vec<Renewal>) {
        let is_held = |owner_id: OwnerId| {
            let entry = self.entries.get(&owner_id.acquisition())?;
            (entry.due.is_some() && !entry.lease.is_over()).then_some(entry.owner.mode)
        };
        renewals.retain(|renewal| is_held(renewal.owner_id) == Some(renewal.mode));
    }

    /// Returns an owner's current mode.
    pub(crate) fn mode(&self, owner_id: OwnerId) -> Option<Mode> {
        Some(self.entries.get(&owner_id.acquisition())?.owner.mode)
    }

    /// Returns a renewal that is not due yet.
    pub(crate) fn renewal(&mut self, owner_id: OwnerId, now: Moment) -> Option<Renewal> {
        let entry = self.entries.get_mut(&owner_id.acquisition())?;
        entry.holding.renews_out_of_turn();
        let (ttl, extends) = (entry.schedule.extension(now), true);
        Some(entry.renewal(Extension { ttl, extends }))
    }

    /// Notes that a renewal was confirmed. Returns the lease that was extended. A lost lease stays lost.
    pub(crate) fn confirmed(
        &mut self,
        owner_id: OwnerId,
        extension: Extension,
        confirmation: Answered<Grant>,
    ) -> Option<Arc<Lease>> {
        let is_stale = self.is_before_the_break(confirmation.at);
        let id = owner_id.acquisition();
        let entry = self.entries.get_mut(&id)?;
        entry.due?; // `None`: the lease is lost.
        self.confirming -= usize::from(entry.holding.confirmed(is_stale));
        if is_stale {
            self.doubtful.push_back(id);
        }
        if entry.lease.is_over() {
            // Too late: a caller may already have noticed the loss. The lease is declared lost when it is due.
            return None;
        }
        entry.holding.note_contended(confirmation.answer.contended);
        if extension.extends {
            entry.schedule.confirmed(confirmation.at, extension.ttl);
        } else {
            entry.schedule.confirmed_as_it_is();
        }
        entry.lease.extend(entry.schedule.deadline());
        let renewed = entry.lease.clone();
        self.reschedule(owner_id);
        Some(renewed)
    }

    /// Notes that a renewal was not answered. If that must be reported, returns the lease and the number of failures in
    /// a row.
    pub(crate) fn unanswered(
        &mut self,
        owner_id: OwnerId,
        now: Moment,
        jitter: f64,
    ) -> Option<(Arc<Lease>, u32)> {
        let entry = self.entries.get_mut(&owner_id.acquisition())?;
        entry.due?; // `None`: the lease is lost.
        self.confirming -= usize::from(entry.holding.unanswered());
        entry.schedule.unanswered(now, jitter);
        let is_reported = !entry.schedule.is_quiet(now) && !entry.lease.is_over();
        let failed = is_reported.then(|| (entry.lease.clone(), entry.schedule.unconfirmed()));
        self.reschedule(owner_id);
        failed
    }

    /// Returns the lease that this owner has now.
    pub(crate) fn lease(&self, owner_id: OwnerId) -> Option<&Lease> {
        let entry = self.entries.get(&owner_id.acquisition())?;
        Some(&entry.lease)
    }

    /// Notes that a lease is lost and needs no further attention. The caller of this must notify the holder, and
    /// promote the next caller of the local queue that the holder headed.
    pub(crate) fn lost(&mut self, owner_id: OwnerId) -> Option<(Arc<Lease>, Option<LockName>)> {
        self.unschedule(owner_id);
        let entry = self.entries.get_mut(&owner_id.acquisition())?;
        let promotes = entry.holding.lost();
        let queue = promotes.then(|| entry.owner.names.first().lock.clone());
        Some((entry.lease.clone(), queue))
    }

    /// Returns when the next work is due.
    pub(crate) fn next(&self) -> Option<Moment> {
        let due = self.agenda.first().map(|&(moment, _)| moment);
        due.into_iter().chain(self.retained.next()).min()
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &LeaseEntry> {
        self.entries.values().map(|entry| &**entry)
    }

    fn reschedule(&mut self, owner_id: OwnerId) {
        self.unschedule(owner_id);
        if let Some(entry) = self.entries.get_mut(&owner_id.acquisition()) {
            let due = entry.schedule.next_due();
            entry.due = Some(due);
            self.agenda.insert((due, owner_id.acquisition()));
        }
    }

    fn unschedule(&mut self, owner_id: OwnerId) {
        let due = self
            .entries
            .get_mut(&owner_id.acquisition())
            .and_then(|entry| entry.due.take());
        if let Some(due) = due {
            self.agenda.remove(&(due, owner_id.acquisition()));
        }
    }

    /// Returns the records of a lease, and when the acquire was sent that was granted it; `None` if it was handed over.
    pub(crate) fn grant(&mut self, lease: &Lease) -> Option<(OneOrMore<RecordNames>, Moment)> {
        let entry = self.entry(lease)?;
        Some((entry.owner.names.clone(), entry.holding.granted_at()))
    }

    /// Notes the new number in a lease's record. Returns the token of the holder's turn, or `None` if the lease was
    /// handed over, or if the answer is older than the break of a connection: the next server may not have the number.
    pub(crate) fn minted(
        &mut self,
        lease: &Lease,
        minted: Answered<FencingToken>,
    ) -> Option<FencingToken> {
        let is_stale = self.is_before_the_break(minted.at);
        let entry = self.entry(lease).filter(|_| !is_stale)?;
        entry.number = minted.answer;
        entry.token()
    }
}

#[cfg(test)]
mod tests;
