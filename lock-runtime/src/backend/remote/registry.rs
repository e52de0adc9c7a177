//! Every hold of a client, and when each of them needs attention. Time is an argument.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use foldhash::HashMap;

use crate::backend::Request;
use crate::backend::remote::local_turns::MAX_LOCAL_TIME;
use crate::backend::remote::owner::Owner;
use crate::backend::remote::retained::RetainedLeases;
use crate::backend::wire::{Answered, Renewal};
use crate::background::moment::Moment;
use crate::key::LockName;
use crate::lease::Lease;
use crate::lease::owner_id::{AcquisitionId, OwnerId};
use crate::lease::record::Grant;
use crate::lease::schedule::{Due, Extension, LeaseTerms, RenewalSchedule};

/// A hold, and what giving it back takes.
#[derive(Debug)]
pub(crate) struct Tenure {
    pub(crate) lease: Arc<Lease>,
    pub(crate) owner: Owner,
    pub(crate) schedule: RenewalSchedule,
    /// Somebody queues in Redis, as far as is known: it is given back by hand-off.
    pub(crate) contended: bool,
    /// It is at the head of its client's line, and owes the next one its turn.
    pub(crate) heads_queue: bool,
    /// How many had the grant before this holder.
    pub(crate) handoff: u32,
    /// When it was granted.
    pub(crate) since: Moment,
    /// Renewals that were handed out and of which nothing was heard.
    pub(crate) under_way: u32,
    pub(crate) doubt: Doubt,
}

/// Whether what is known of a hold was confirmed on a connection that is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Doubt {
    #[default]
    None,
    /// It is to be confirmed.
    Open,
    /// That was asked for.
    Asked,
}

/// How many confirmations may be under way: more than are needed to keep a server busy, and few enough
/// that one which is slow is not asked for all of them at once.
const MAX_CONFIRMATIONS: usize = 1024;

/// The holds of a client by owner.
#[derive(Debug, Default)]
pub(crate) struct LeaseRegistry {
    /// Boxed, since a map keeps up to twice as many places as it has entries, and moves them all when
    /// it grows.
    entries: HashMap<AcquisitionId, Box<Entry>>,
    /// Every entry that is due at some time, in that order.
    agenda: BTreeSet<(Moment, AcquisitionId)>,
    /// Holds that may be to be confirmed now.
    doubtful: VecDeque<AcquisitionId>,
    /// How many confirmations are under way.
    asked: usize,
    /// When the last connection broke: what was sent before proves nothing of the next one's server.
    broke_at: Option<Moment>,
    /// Leases that no caller has.
    pub(crate) retained: RetainedLeases,
    /// When somebody will look anyway.
    planned: Option<Moment>,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) tenure: Tenure,
    /// Its place in the agenda; `None` once it is lost.
    due: Option<Moment>,
}

/// What is due.
#[derive(Debug, Default)]
pub(crate) struct DueWork {
    pub(crate) renewals: Vec<Renewal>,
    /// Holds that are renewed again while an earlier renewal is still under way, and how many
    /// renewals have failed or are late by now.
    pub(crate) overdue: Vec<(Arc<Lease>, u32)>,
    pub(crate) lost: Vec<OwnerId>,
    /// When to look again; `None` if nothing is held. Past if there was more than was asked for.
    pub(crate) next: Option<Moment>,
}

impl LeaseRegistry {
    /// Takes a hold in, which was granted in answer to a request sent at `sent`.
    pub(crate) fn insert(&mut self, mut tenure: Tenure, sent: Moment) {
        let acquisition = tenure.owner.id().acquisition();
        if self.is_before_the_break(sent) {
            tenure.doubt();
            self.doubtful.push_back(acquisition);
        }
        self.put(Box::new(Entry { tenure, due: None }));
    }

    fn put(&mut self, mut entry: Box<Entry>) {
        let acquisition = entry.tenure.owner.id().acquisition();
        let due = entry.tenure.schedule.next_due();
        entry.due = Some(due);
        self.entries.insert(acquisition, entry);
        self.agenda.insert((due, acquisition));
    }

    /// Takes a hold out: it is not renewed from here on. `None` if its lease was passed on.
    pub(crate) fn remove(&mut self, lease: &Lease) -> Option<Tenure> {
        self.remove_entry(lease).map(|entry| entry.tenure)
    }

    fn remove_entry(&mut self, lease: &Lease) -> Option<Box<Entry>> {
        self.entry(lease)?;
        let acquisition = lease.owner_id.acquisition();
        let mut entry = self.entries.remove(&acquisition)?;
        if let Some(due) = entry.due {
            self.agenda.remove(&(due, acquisition));
        }
        entry.tenure.answered(&mut self.asked);
        Some(entry)
    }

    /// Whether something is due before anybody will look. Says so once.
    pub(crate) fn is_due_earlier(&mut self) -> bool {
        let next = self.next();
        let is_earlier = next.is_some_and(|next| self.planned.is_none_or(|planned| next < planned));
        if is_earlier {
            self.planned = next;
        }
        is_earlier
    }

    /// Notes that somebody will look at `planned`; `None`: not before it is told to.
    pub(crate) fn plan(&mut self, planned: Option<Moment>) {
        self.planned = planned;
    }

    /// The connection broke on which all that is known was confirmed. The next one may lead to another
    /// server, which may have missed a renewal or the lock itself. What is retained is not worth a
    /// confirmation: its time is over.
    pub(crate) fn disconnected(&mut self, now: Moment) {
        self.broke_at = Some(now);
        self.retained.expire();
        for entry in self.entries.values_mut() {
            entry.tenure.doubt();
        }
        self.confirm_all();
    }

    /// There is a connection again: what could not be confirmed without one is asked for now.
    pub(crate) fn connected(&mut self) {
        self.confirm_all();
    }

    fn confirm_all(&mut self) {
        let entries = self.entries.iter();
        let open = entries.filter(|(_, entry)| entry.tenure.doubt == Doubt::Open);
        self.doubtful = open.map(|(&acquisition, _)| acquisition).collect();
    }

    /// A hold is to be confirmed at once.
    pub(crate) fn confirm_soon(&mut self, lease: &Lease) {
        if let Some(entry) = self.entry(lease) {
            entry.tenure.doubt();
            self.doubtful.push_back(lease.owner_id.acquisition());
        }
    }

    /// Whether there is something to confirm, and it may be asked for.
    pub(crate) fn may_confirm(&self) -> bool {
        self.asked < MAX_CONFIRMATIONS && !self.doubtful.is_empty()
    }

    fn is_before_the_break(&self, sent: Moment) -> bool {
        self.broke_at.is_some_and(|broke| sent < broke)
    }

    /// What is known of a hold that has the lease of its owner.
    fn entry(&mut self, lease: &Lease) -> Option<&mut Entry> {
        let entry = self.entries.get_mut(&lease.owner_id.acquisition())?;
        Some(&mut **entry).filter(|entry| entry.tenure.lease.token == lease.token)
    }

    /// The lock whose line this holder heads.
    pub(crate) fn queue(&mut self, lease: &Lease) -> Option<LockName> {
        let tenure = &self.entry(lease)?.tenure;
        (tenure.heads_queue).then(|| tenure.owner.names.lock.clone())
    }

    /// Passes the lease of a holder that is done to another caller, as its next turn of at most
    /// `turns`, if that may have it.
    pub(crate) fn pass(
        &mut self,
        lease: &Lease,
        request: &Request,
        turns: u32,
        now: Moment,
    ) -> Option<Arc<Lease>> {
        let entry = self.entries.get_mut(&lease.owner_id.acquisition())?;
        let tenure = &mut entry.tenure;
        if tenure.lease.token != lease.token {
            return None;
        }
        if entry.due.is_none() || !tenure.may_pass(&request.terms, turns, now) {
            return None;
        }
        let next = tenure.pass(request, now);
        if tenure.doubt != Doubt::None {
            // Asked for again when it is handed over.
            tenure.answered(&mut self.asked);
            tenure.doubt();
        }
        self.reschedule(lease.owner_id);
        Some(next)
    }

    /// Retains the lease of a holder that is done for the next caller of its client, if nobody else is
    /// known to want it and nothing is known against it.
    pub(crate) fn retain(&mut self, lease: &Lease, turns: u32, now: Moment) -> bool {
        let Some(entry) = self.entry(lease) else {
            return false;
        };
        let time = entry.tenure.retention(turns, now);
        if entry.due.is_none() || time.is_zero() || self.retained.is_closed() {
            return false;
        }
        let Some(entry) = self.remove_entry(lease) else {
            return false;
        };
        self.retained.insert(entry, now + time);
        true
    }

    /// Gives the lease that is retained of a lock to its next caller, as its next turn of at most
    /// `turns`, if that may have it.
    pub(crate) fn resume(
        &mut self,
        request: &Request,
        turns: u32,
        now: Moment,
    ) -> Option<Arc<Lease>> {
        let lock = &request.names.lock;
        let (tenure, until) = self.retained.get(lock)?;
        if now >= until || !tenure.may_pass(&request.terms, turns, now) {
            return None;
        }
        let mut entry = self.retained.take(lock)?;
        // Nothing of it is to be confirmed: it would have ended with the connection.
        let next = entry.tenure.pass(request, now);
        self.put(entry);
        Some(next)
    }

    /// What is due at `now`, but no more than `most` of it. The outcome of each renewal is to be
    /// reported, and each loss; and this is to be asked again by `next`.
    pub(crate) fn due(&mut self, now: Moment, most: usize) -> DueWork {
        let mut agenda = DueWork::default();
        while let Some(&(moment, acquisition)) = self.agenda.first() {
            if moment > now || agenda.renewals.len() + agenda.lost.len() == most {
                break;
            }
            let Some(entry) = self.entries.get_mut(&acquisition) else {
                self.agenda.remove(&(moment, acquisition));
                continue;
            };
            let owner_id = entry.tenure.owner.id();
            if !entry.tenure.lease.is_delivered() {
                entry.tenure.schedule.postpone(now);
            }
            if entry.tenure.lease.is_over() {
                // Lost by another's word, a shutdown's for one: it must not be renewed.
                agenda.lost.push(owner_id);
                self.unschedule(owner_id);
                continue;
            }
            match entry.tenure.schedule.due(now) {
                Due::At(_) => {}
                Due::Renew(extension) => {
                    let Tenure {
                        lease, schedule, ..
                    } = &entry.tenure;
                    if entry.tenure.under_way > 0 && !schedule.is_quiet(now) {
                        agenda.overdue.push((lease.clone(), schedule.unknown() - 1));
                    }
                    let renewal = entry.tenure.ask(extension, &mut self.asked);
                    agenda.renewals.push(renewal);
                }
                Due::Lost => {
                    agenda.lost.push(owner_id);
                    self.unschedule(owner_id);
                    continue;
                }
            }
            self.reschedule(owner_id);
        }
        while agenda.renewals.len() + agenda.lost.len() < most
            && self.asked < MAX_CONFIRMATIONS
            && let Some(acquisition) = self.doubtful.pop_front()
        {
            agenda.renewals.extend(self.confirmation(acquisition, now));
        }
        agenda.next = if self.may_confirm() {
            Some(now)
        } else {
            self.next()
        };
        agenda
    }

    /// A renewal that shows whether a hold is one still, and gives it back what a renewal that was
    /// lost would have.
    fn confirmation(&mut self, acquisition: AcquisitionId, now: Moment) -> Option<Renewal> {
        let entry = self.entries.get_mut(&acquisition)?;
        let tenure = &mut entry.tenure;
        let is_held = entry.due.is_some() && !tenure.lease.is_over();
        if tenure.doubt != Doubt::Open || !is_held || !tenure.lease.is_delivered() {
            return None;
        }
        let extension = tenure.schedule.confirmation(now)?;
        let renewal = tenure.ask(extension, &mut self.asked);
        self.reschedule(renewal.owner_id);
        Some(renewal)
    }

    /// Drops the renewals of holds that were taken out since.
    pub(crate) fn retain_held(&self, renewals: &mut Vec<Renewal>) {
        renewals.retain(|renewal| self.entries.contains_key(&renewal.owner_id.acquisition()));
    }

    /// A renewal out of turn.
    pub(crate) fn renewal(&self, owner_id: OwnerId, now: Moment) -> Option<Renewal> {
        let tenure = &self.entries.get(&owner_id.acquisition())?.tenure;
        Some(tenure.renewal(Extension {
            ttl: tenure.schedule.extension(now),
            extends: true,
        }))
    }

    /// A renewal was confirmed. Says whose; what is lost stays so.
    pub(crate) fn confirmed(
        &mut self,
        owner_id: OwnerId,
        extension: Extension,
        sent: Answered<Grant>,
    ) -> Option<Arc<Lease>> {
        let is_stale = self.is_before_the_break(sent.at);
        let Entry {
            tenure,
            due: Some(_),
        } = &mut **self.entries.get_mut(&owner_id.acquisition())?
        else {
            return None;
        };
        tenure.under_way = 0;
        tenure.answered(&mut self.asked);
        if is_stale {
            self.doubtful.push_back(owner_id.acquisition());
        } else {
            tenure.doubt = Doubt::None;
        }
        if tenure.lease.is_over() {
            // Too late: it may be lost for somebody already, and is found so when it is due.
            return None;
        }
        tenure.contended |= sent.answer.contended;
        if extension.extends {
            tenure.schedule.confirmed(sent.at, extension.ttl);
        } else {
            tenure.schedule.confirmed_as_it_is();
        }
        tenure.lease.extend(tenure.schedule.deadline());
        let renewed = tenure.lease.clone();
        self.reschedule(owner_id);
        Some(renewed)
    }

    /// A renewal was not answered. Says whose it was, and how many were not in a row, if that is news.
    pub(crate) fn unanswered(
        &mut self,
        owner_id: OwnerId,
        now: Moment,
        jitter: f64,
    ) -> Option<(Arc<Lease>, u32)> {
        let entry = self.entries.get_mut(&owner_id.acquisition())?;
        entry.due?;
        entry.tenure.under_way = entry.tenure.under_way.saturating_sub(1);
        entry.tenure.answered(&mut self.asked);
        let Tenure {
            lease, schedule, ..
        } = &mut entry.tenure;
        schedule.unanswered(now, jitter);
        let told = (!schedule.is_quiet(now)).then(|| (lease.clone(), schedule.unknown()));
        self.reschedule(owner_id);
        told
    }

    /// The hold is lost: it needs no attention any more. It is for the caller to say so to its holder,
    /// and to give the line that it headed, if it did, its turn.
    pub(crate) fn lost(&mut self, owner_id: OwnerId) -> Option<(Arc<Lease>, Option<LockName>)> {
        self.unschedule(owner_id);
        let tenure = &mut self.entries.get_mut(&owner_id.acquisition())?.tenure;
        let heads_queue = std::mem::take(&mut tenure.heads_queue);
        let queue = heads_queue.then(|| tenure.owner.names.lock.clone());
        Some((tenure.lease.clone(), queue))
    }

    /// When to look for what is due.
    pub(crate) fn next(&self) -> Option<Moment> {
        let due = self.agenda.first().map(|&(moment, _)| moment);
        due.into_iter().chain(self.retained.next()).min()
    }

    pub(crate) fn leases(&self) -> impl Iterator<Item = &Arc<Lease>> {
        self.entries.values().map(|entry| &entry.tenure.lease)
    }

    fn reschedule(&mut self, owner_id: OwnerId) {
        self.unschedule(owner_id);
        if let Some(entry) = self.entries.get_mut(&owner_id.acquisition()) {
            let due = entry.tenure.schedule.next_due();
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
}

impl Tenure {
    /// Whether the lease may go, as it is, to a caller with these terms.
    fn may_pass(&self, terms: &LeaseTerms, turns: u32, now: Moment) -> bool {
        let ttl = terms.first_ttl();
        let may_ask_for = ttl == self.lease.terms.first_ttl();
        let is_long = self.schedule.deadline().since(now) >= ttl * 2 / 3;
        let has_token = self.handoff + 1 < turns;
        let contended = self.contended || self.owner.has_waiters();
        let is_fair = !contended || now.since(self.since) < MAX_LOCAL_TIME;
        may_ask_for && is_long && has_token && is_fair && !self.lease.is_over()
    }

    /// The lease goes to another caller, as it is.
    fn pass(&mut self, request: &Request, now: Moment) -> Arc<Lease> {
        self.handoff += 1;
        self.schedule = self.schedule.passed(now, &request.terms);
        self.lease = Arc::new(self.lease.successor(request, &self.schedule));
        self.lease.clone()
    }

    /// For how long the lease of a body that is over may be retained; zero is not at all. Nobody could
    /// have it when less than two thirds of its ttl are left.
    fn retention(&self, turns: u32, now: Moment) -> Duration {
        let terms = &self.lease.terms;
        let has_token = self.handoff + 1 < turns;
        // Every owner is called when its connection breaks: messages may have been missed.
        let is_wanted = self.contended || self.owner.has_waiters();
        let is_answered = self.under_way == 0 && self.schedule.unknown() == 0;
        let is_sure = is_answered && self.doubt == Doubt::None && !self.lease.is_over();
        if !self.lease.is_delivered() || !has_token || is_wanted || !is_sure {
            return Duration::ZERO;
        }
        let left = self.schedule.deadline().since(now);
        let room = left.saturating_sub(terms.first_ttl() * 2 / 3);
        terms.retain.min(room)
    }

    fn renewal(&self, extension: Extension) -> Renewal {
        Renewal {
            owner_id: self.owner.id(),
            lock: self.owner.names.lock.clone(),
            extension,
        }
    }

    /// It is to be confirmed, unless that is asked for already.
    fn doubt(&mut self) {
        self.lease.doubt();
        self.schedule.doubted();
        if self.doubt == Doubt::None {
            self.doubt = Doubt::Open;
        }
    }

    fn ask(&mut self, extension: Extension, asked: &mut usize) -> Renewal {
        self.under_way += 1;
        if self.doubt == Doubt::Open {
            self.doubt = Doubt::Asked;
            *asked += 1;
        }
        self.renewal(extension)
    }

    /// Something was heard of what was asked, or nothing will be.
    fn answered(&mut self, asked: &mut usize) {
        if self.doubt == Doubt::Asked {
            self.doubt = Doubt::Open;
            *asked -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::remote::grant_notifier::GrantNotifier;
    use crate::background::clock::Clock;
    use crate::config::TURNS;
    use crate::key::{LockKey, LockSet, RecordNames};
    use crate::lease::Mode;
    use crate::lease::fencing_token::FencingToken;
    use crate::lease::owner_id::ClientId;
    use crate::lease::schedule::MIN_TTL;
    use crate::lease::schedule::margin;

    const TTL: Duration = Duration::from_secs(3600);

    const EXTENSION: Extension = Extension {
        ttl: TTL,
        extends: true,
    };

    /// More than there is.
    const MANY: usize = usize::MAX;

    fn owner_id(number: u16) -> OwnerId {
        let mut random = [0; 11];
        random[..2].copy_from_slice(&number.to_be_bytes());
        OwnerId::from_random(ClientId::from_random([0; 6]), random)
    }

    /// A hold of an hour, granted at `at`.
    fn tenure(number: u16, at: Moment) -> Tenure {
        let key = LockKey::from(format!("key-{number}"));
        let names = RecordNames::new("lock:", &key).unwrap_or_else(|problem| panic!("{problem}"));
        let terms = LeaseTerms {
            ttl: TTL,
            renew: true,
            max_hold: None,
            retain: Duration::ZERO,
        };
        let schedule = RenewalSchedule::granted(at, &terms);
        let token = FencingToken::new(16);
        let lease = Lease::new(
            key,
            owner_id(number),
            token,
            terms,
            ("", "key-<n>"),
            Clock::Boot,
            &schedule,
        );
        lease.delivered();
        Tenure {
            lease: Arc::new(lease),
            owner: Owner::again(owner_id(number), &names, &GrantNotifier::default()),
            schedule,
            contended: false,
            heads_queue: true,
            handoff: 0,
            since: at,
            under_way: 0,
            doubt: Doubt::None,
        }
    }

    fn confirmation(at: Moment, contended: bool) -> Answered<Grant> {
        let token = FencingToken::new(16);
        Answered {
            at,
            answer: Grant { contended, token },
        }
    }

    /// What a caller asks for that comes next.
    fn request(terms: LeaseTerms) -> Request {
        let Tenure { lease, owner, .. } = tenure(1, Moment::from_nanos(0));
        Request {
            locks: LockSet::one(lease.keys.first().clone(), owner.names.clone()),
            mode: Mode::Exclusive,
            terms,
            wait: TTL,
            label: "".into(),
            function: "next",
            template: "key-<n>",
        }
    }

    fn terms(ttl: Duration) -> LeaseTerms {
        LeaseTerms {
            ttl,
            renew: true,
            max_hold: None,
            retain: Duration::ZERO,
        }
    }

    fn remove(registry: &mut LeaseRegistry, number: u16) -> Option<Tenure> {
        let lease = registry
            .entries
            .get(&owner_id(number).acquisition())?
            .tenure
            .lease
            .clone();
        registry.remove(&lease)
    }

    fn overdue(agenda: &DueWork) -> Vec<(OwnerId, u32)> {
        let overdue = agenda.overdue.iter();
        overdue
            .map(|(lease, count)| (lease.owner_id, *count))
            .collect()
    }

    fn owner_ids(agenda: &DueWork) -> Vec<OwnerId> {
        agenda
            .renewals
            .iter()
            .map(|renewal| renewal.owner_id)
            .collect()
    }

    #[test]
    fn what_is_due_comes_in_order_and_as_much_as_was_asked_for() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        let mut dues: Vec<(Moment, OwnerId)> = Vec::new();
        for number in 0..5 {
            let tenure = tenure(number, start + Duration::from_millis(u64::from(number)));
            dues.push((tenure.schedule.next_due(), owner_id(number)));
            registry.insert(tenure, start);
        }
        dues.sort();
        assert_eq!(registry.due(start, MANY).next, Some(dues[0].0));

        let all = start + TTL / 2;
        let mut found = Vec::new();
        let again = all + TTL / 6;
        for (count, next) in [(2, dues[2].0), (2, dues[4].0), (1, again)] {
            let agenda = registry.due(all, 2);
            assert_eq!((agenda.renewals.len(), agenda.next), (count, Some(next)));
            assert!(agenda.lost.is_empty());
            found.extend(owner_ids(&agenda));
        }
        let in_order: Vec<OwnerId> = dues.iter().map(|&(_, owner_id)| owner_id).collect();
        assert_eq!(found, in_order);
    }

    #[test]
    fn what_was_taken_in_a_burst_is_not_renewed_in_one() {
        const HOLDS: u16 = 10_000;
        const STEPS: u32 = 120;
        const STEP: Duration = Duration::from_secs(10);
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        for number in 0..HOLDS {
            let taken = start + Duration::from_micros(20) * u32::from(number);
            registry.insert(tenure(number, taken), start);
        }
        let mut last = HashMap::default();
        let mut sent = Vec::new();
        for step in 1..=3 * STEPS {
            let now = start + STEP * step;
            let renewals = registry.due(now, MANY).renewals;
            sent.push(renewals.len());
            for Renewal {
                owner_id,
                extension,
                ..
            } in renewals
            {
                let before = last.insert(owner_id, now).unwrap_or(start + STEP);
                assert!(
                    now.since(before) <= TTL / 3 + STEP,
                    "{:?}",
                    now.since(before)
                );
                registry.confirmed(owner_id, extension, confirmation(now, false));
            }
        }
        assert_eq!(last.len(), usize::from(HOLDS));
        let even = usize::from(HOLDS) / STEPS as usize;
        let most = sent.iter().copied().max().unwrap();
        assert!(most <= 3 * even, "{most} at once, {even} if they were even");
        let total: usize = sent.iter().sum();
        assert!(
            total <= usize::from(HOLDS) * 9 / 2,
            "{total} renewals in three thirds of {HOLDS} leases"
        );
    }

    #[test]
    fn a_renewal_without_an_answer_is_handed_out_again_and_told() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        registry.insert(tenure(1, start), start);
        let first = start + TTL / 3;
        assert_eq!(owner_ids(&registry.due(first, MANY)), [owner_id(1)]);
        let agenda = registry.due(first + TTL / 6, MANY);
        assert_eq!(owner_ids(&agenda), [owner_id(1)]);
        assert_eq!(overdue(&agenda), [(owner_id(1), 1)]);

        let renewed = registry.confirmed(owner_id(1), EXTENSION, confirmation(first, true));
        assert_eq!(renewed.map(|lease| lease.owner_id), Some(owner_id(1)));
        let next = registry.next().unwrap();
        assert!(next > first + TTL / 12 && next <= first + TTL / 3);
        let tenure = remove(&mut registry, 1).unwrap();
        assert!(tenure.contended, "the answer said that somebody queues");
        assert_eq!(tenure.lease.deadline(), tenure.schedule.deadline());
    }

    #[test]
    fn a_renewal_that_failed_is_not_told_as_late_as_well() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        registry.insert(tenure(1, start), start);
        let first = start + TTL / 3;
        assert_eq!(owner_ids(&registry.due(first, MANY)), [owner_id(1)]);
        let (_, failures) = registry.unanswered(owner_id(1), first, 0.5).unwrap();
        assert_eq!(failures, 1);
        let again = registry.due(registry.next().unwrap(), MANY);
        assert_eq!(owner_ids(&again), [owner_id(1)]);
        assert!(again.overdue.is_empty());
    }

    #[test]
    fn a_renewal_whose_hold_was_given_back_is_dropped() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        registry.insert(tenure(1, start), start);
        registry.insert(tenure(2, start), start);
        let mut agenda = registry.due(start + TTL / 3, MANY);
        remove(&mut registry, 1).unwrap();
        registry.retain_held(&mut agenda.renewals);
        assert_eq!(owner_ids(&agenda), [owner_id(2)]);
    }

    #[test]
    fn a_lost_hold_passes_its_turn_once_and_is_not_renewed_again() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        registry.insert(tenure(1, start), start);
        assert_eq!(registry.due(start + TTL, MANY).lost, [owner_id(1)]);
        let (lease, queue) = registry.lost(owner_id(1)).unwrap();
        assert_eq!(
            (lease.owner_id, queue.as_deref()),
            (owner_id(1), Some("lock:key-1"))
        );
        assert_eq!(registry.lost(owner_id(1)).unwrap().1, None);
        let late = registry.confirmed(owner_id(1), EXTENSION, confirmation(start + TTL, false));
        assert!(late.is_none());
        assert!(registry.unanswered(owner_id(1), start + TTL, 0.5).is_none());
        assert_eq!(registry.next(), None);
        assert!(
            remove(&mut registry, 1).is_some(),
            "it still has to be given back"
        );
    }

    /// It is not declared lost yet, but its holder may have looked at the clock.
    #[test]
    fn a_confirmation_after_the_deadline_does_not_move_it() {
        // A lease of the first 20 ms that the clock has counted.
        let long_ago = Moment::from_nanos(0);
        let brief = terms(MIN_TTL);
        let mut tenure = tenure(1, long_ago);
        tenure.schedule = RenewalSchedule::granted(long_ago, &brief);
        tenure.lease = Arc::new(tenure.lease.successor(&request(brief), &tenure.schedule));
        let (lease, deadline) = (tenure.lease.clone(), tenure.schedule.deadline());
        let mut registry = LeaseRegistry::default();
        let granted = tenure.since;
        registry.insert(tenure, granted);
        let now = Clock::Boot.now();
        assert!(now > deadline);
        let late = registry.confirmed(owner_id(1), EXTENSION, confirmation(now, false));
        assert!(late.is_none());
        assert_eq!(lease.deadline(), deadline);
        assert_eq!(registry.due(now, MANY).lost, [owner_id(1)]);
    }

    #[test]
    fn a_hold_that_others_ended_is_found_lost_when_it_is_due() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        let tenure = tenure(1, start);
        tenure.lease.lose(crate::lease::LossReason::Shutdown);
        registry.insert(tenure, start);
        let agenda = registry.due(start + TTL / 3, MANY);
        assert_eq!(
            (owner_ids(&agenda), agenda.lost),
            (vec![], vec![owner_id(1)])
        );
    }

    #[test]
    fn what_was_confirmed_on_a_connection_that_is_gone_is_asked_for_once() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        for number in 0..5 {
            registry.insert(tenure(number, start), start);
        }
        registry.lost(owner_id(0)).unwrap();
        // Before any of them is to be renewed by itself.
        let now = start + TTL / 20;
        registry.disconnected(now);
        let mut found = Vec::new();
        while found.len() < 4 {
            let agenda = registry.due(now, 3);
            assert!(!agenda.renewals.is_empty());
            assert!(agenda.renewals.iter().all(|it| it.extension == EXTENSION));
            found.extend(owner_ids(&agenda));
            // There is a connection now: no reason to ask for what is under way.
            registry.connected();
        }
        found.sort();
        assert_eq!(found, [1, 2, 3, 4].map(owner_id));
        let agenda = registry.due(now, MANY);
        assert!(owner_ids(&agenda).is_empty());
        assert!(agenda.next.unwrap() > now);

        for number in 1..4 {
            registry.confirmed(owner_id(number), EXTENSION, confirmation(now, false));
        }
        assert!(
            registry.unanswered(owner_id(4), now, 0.5).is_none(),
            "no news"
        );
        registry.connected();
        assert_eq!(owner_ids(&registry.due(now, MANY)), [owner_id(4)]);
        // Without a word of a connection, too, and it is news once a regular one would have been due.
        assert!(registry.unanswered(owner_id(4), now, 0.5).is_none());
        let soon = registry.due(now, MANY).next.unwrap();
        assert!(soon > now && soon < now + TTL / 20);
        let late = start + TTL / 3;
        assert_eq!(owner_ids(&registry.due(late, 1)).len(), 1);
        assert!(registry.unanswered(owner_id(4), late, 0.5).is_some());
    }

    #[test]
    fn what_was_sent_on_the_connection_that_is_gone_proves_nothing() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        let (sent, broke) = (start + TTL / 10, start + TTL / 9);
        registry.insert(tenure(1, start), start);
        registry.disconnected(broke);
        assert_eq!(owner_ids(&registry.due(broke, MANY)), [owner_id(1)]);
        // The answer to a renewal that was read before the connection broke.
        registry.confirmed(owner_id(1), EXTENSION, confirmation(sent, false));
        assert_eq!(owner_ids(&registry.due(broke, MANY)), [owner_id(1)]);
        registry.confirmed(owner_id(1), EXTENSION, confirmation(broke, false));
        assert!(owner_ids(&registry.due(broke, MANY)).is_empty());
        // A grant that was answered before, and comes only now.
        registry.insert(tenure(2, sent), sent);
        registry.insert(tenure(3, broke), broke);
        assert_eq!(owner_ids(&registry.due(broke, MANY)), [owner_id(2)]);
    }

    #[test]
    fn only_so_many_confirmations_are_under_way() {
        const HOLDS: u16 = MAX_CONFIRMATIONS as u16 + 100;
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        for number in 0..HOLDS {
            registry.insert(tenure(number, start), start);
        }
        let now = start + TTL / 20;
        registry.disconnected(now);
        let first = registry.due(now, MANY);
        assert_eq!(first.renewals.len(), MAX_CONFIRMATIONS);
        assert!(first.next.unwrap() > now && !registry.may_confirm());
        let [one, two, three, ..] = owner_ids(&first)[..] else {
            panic!("there are more")
        };
        registry.confirmed(one, EXTENSION, confirmation(now, false));
        registry.unanswered(two, now, 0.5);
        let lease = registry.entries[&three.acquisition()].tenure.lease.clone();
        registry.remove(&lease).unwrap();
        assert!(registry.may_confirm());
        assert_eq!(registry.due(now, MANY).renewals.len(), 3);
    }

    #[test]
    fn a_lease_that_is_not_renewed_is_confirmed_for_what_its_holder_counts_on() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        let mut tenure = tenure(1, start);
        let terms = LeaseTerms {
            renew: false,
            ..terms(TTL)
        };
        tenure.schedule = RenewalSchedule::granted(start, &terms);
        let deadline = tenure.schedule.deadline();
        registry.insert(tenure, start);
        let now = start + TTL / 2;
        registry.disconnected(now);
        let agenda = registry.due(now, MANY);
        let [renewal] = &agenda.renewals[..] else {
            panic!("one")
        };
        let Extension { ttl, extends } = renewal.extension;
        assert!(!extends);
        // As any lease it ends later at the server, by the margin of the time that is left.
        let counted = now + ttl.saturating_sub(margin(ttl));
        assert!(counted >= deadline && counted < deadline + Duration::from_millis(2));
        assert!(registry.unanswered(owner_id(1), now, 0.5).is_none());
        let again = registry.next().unwrap();
        assert!(again < now + TTL / 20, "it is asked for again");
        assert_eq!(owner_ids(&registry.due(again, MANY)), [owner_id(1)]);
        let sent = again + TTL / 100;
        let renewed = registry.confirmed(owner_id(1), renewal.extension, confirmation(sent, false));
        assert_eq!(renewed.unwrap().deadline(), deadline);
        assert_eq!(registry.next(), Some(deadline), "it is not renewed");
    }

    #[test]
    fn what_was_not_handed_over_is_not_renewed_but_confirmed_when_it_is() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        let mut tenure = tenure(1, start);
        let request = request(terms(TTL));
        tenure.lease = Arc::new(tenure.lease.successor(&request, &tenure.schedule));
        let lease = tenure.lease.clone();
        registry.insert(tenure, start);
        let first = start + TTL / 3;
        assert!(owner_ids(&registry.due(first, MANY)).is_empty());
        let second = registry.next().unwrap();
        assert!(second > first && second <= first + TTL / 6);
        assert!(!lease.is_doubted());
        registry.disconnected(first);
        assert!(owner_ids(&registry.due(first, MANY)).is_empty());
        assert!(lease.is_doubted());
        lease.delivered();
        registry.confirm_soon(&lease);
        assert_eq!(owner_ids(&registry.due(first, MANY)), [owner_id(1)]);
    }

    #[test]
    fn a_turn_in_doubt_is_confirmed_by_the_next_one() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        registry.insert(tenure(1, start), start);
        let lease = registry.leases().next().unwrap().clone();
        let now = start + TTL / 10;
        registry.disconnected(now);
        assert_eq!(owner_ids(&registry.due(now, MANY)), [owner_id(1)]);
        let next = registry.pass(&lease, &request(terms(TTL)), TURNS, now);
        let next = next.expect("it may be had");
        assert!(next.is_doubted());
        next.delivered();
        registry.confirm_soon(&next);
        assert_eq!(owner_ids(&registry.due(now, MANY)), [owner_id(1)]);
        assert_eq!(registry.asked, 1);
    }

    #[test]
    fn what_nobody_comes_for_is_lost_when_its_lease_ends() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        let mut tenure = tenure(1, start);
        let request = request(terms(TTL));
        tenure.lease = Arc::new(tenure.lease.successor(&request, &tenure.schedule));
        registry.insert(tenure, start);
        let mut agenda = DueWork::default();
        while agenda.lost.is_empty() {
            let next = registry.next().expect("it is watched");
            agenda = registry.due(next, MANY);
            assert!(agenda.renewals.is_empty());
        }
        assert_eq!(agenda.lost, [owner_id(1)]);
    }

    #[test]
    fn what_was_given_back_is_not_due() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        registry.insert(tenure(1, start), start);
        remove(&mut registry, 1).unwrap();
        assert_eq!(registry.next(), None);
        assert!(remove(&mut registry, 1).is_none());
    }

    #[test]
    fn a_lease_passes_as_it_is_with_a_token_of_its_own() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        registry.insert(tenure(1, start), start);
        let due = registry.next();
        let mut lease = registry.leases().next().unwrap().clone();
        let first = lease.clone();
        for handoff in 1..TURNS {
            let next = registry.pass(&lease, &request(terms(TTL)), TURNS, start);
            let next = next.expect("it may be had");
            assert_eq!(next.owner_id, first.owner_id);
            assert_eq!(next.token.get(), first.token.get() + u64::from(handoff));
            assert_eq!(next.deadline(), first.deadline());
            assert_eq!(next.trace.function, "next");
            assert!(registry.remove(&lease).is_none(), "its lease was passed on");
            lease = next;
        }
        let beyond = registry.pass(&lease, &request(terms(TTL)), TURNS, start);
        assert!(beyond.is_none(), "the grant has no more tokens");
        assert_eq!(registry.next(), due);
        assert!(registry.remove(&lease).is_some());
    }

    #[test]
    fn a_renewal_of_one_turn_carries_the_next_one_on() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        registry.insert(tenure(1, start), start);
        let lease = registry.leases().next().unwrap().clone();
        let asked = registry.due(start + TTL / 3, MANY);
        assert_eq!(owner_ids(&asked), [owner_id(1)]);
        let next = registry.pass(&lease, &request(terms(TTL)), TURNS, start);
        let next = next.unwrap();
        let sent = start + TTL / 3;
        let renewed = registry.confirmed(owner_id(1), EXTENSION, confirmation(sent, false));
        assert!(Arc::ptr_eq(&renewed.unwrap(), &next));
        assert!(next.deadline() > lease.deadline());
        // The server says who has it by the token of the grant. That is no news of the turn.
        assert_eq!(next.token.get(), lease.token.get() + 1);
    }

    #[test]
    fn a_lease_passes_only_to_whom_it_could_have_been_granted() {
        let start = Clock::Boot.now();
        let passes = |change: fn(&mut Tenure), terms: LeaseTerms, after: Duration| {
            let mut registry = LeaseRegistry::default();
            let mut tenure = tenure(1, start);
            change(&mut tenure);
            let lease = tenure.lease.clone();
            registry.insert(tenure, start);
            let next = registry.pass(&lease, &request(terms), TURNS, start + after);
            next.is_some()
        };
        let as_it_is: fn(&mut Tenure) = |_| {};
        let contended: fn(&mut Tenure) = |tenure| tenure.contended = true;
        let lost: fn(&mut Tenure) = |tenure| {
            tenure.lease.lose(crate::lease::LossReason::NotOurs);
        };
        let soon = Duration::from_millis(999);
        assert!(passes(as_it_is, terms(TTL), TTL / 4));
        assert!(!passes(as_it_is, terms(TTL), TTL / 3), "too little is left");
        assert!(!passes(as_it_is, terms(TTL / 2), soon), "another ttl");
        let held_for_less = LeaseTerms {
            max_hold: Some(TTL / 2),
            ..terms(TTL)
        };
        assert!(!passes(as_it_is, held_for_less, soon), "another first ttl");
        assert!(passes(contended, terms(TTL), soon));
        assert!(
            !passes(contended, terms(TTL), MAX_LOCAL_TIME),
            "others have waited"
        );
        assert!(!passes(lost, terms(TTL), soon), "it is lost");
    }

    /// A hold whose body is over, and which retains its lease for `RETAIN`.
    fn retaining(number: u16, at: Moment) -> (LeaseRegistry, Arc<Lease>) {
        let mut registry = LeaseRegistry::default();
        let mut tenure = tenure(number, at);
        let terms = LeaseTerms {
            retain: RETAIN,
            ..tenure.lease.terms
        };
        let lease = &tenure.lease;
        let lease = Lease::new(
            lease.keys.clone(),
            lease.owner_id,
            lease.token,
            terms,
            ("", "key-<n>"),
            Clock::Boot,
            &tenure.schedule,
        );
        lease.delivered();
        tenure.lease = Arc::new(lease);
        let lease = tenure.lease.clone();
        registry.insert(tenure, at);
        (registry, lease)
    }

    const RETAIN: Duration = Duration::from_secs(60);

    #[test]
    fn a_retained_lease_is_the_next_callers_until_its_time_is_over() {
        let start = Clock::Boot.now();
        let resume = |at: Duration, terms, turns| {
            let (mut registry, lease) = retaining(1, start);
            assert!(registry.retain(&lease, TURNS, start));
            assert_eq!(registry.next(), Some(start + RETAIN));
            assert!(registry.due(start + RETAIN, MANY).renewals.is_empty());
            let next = registry.resume(&request(terms), turns, start + at)?;
            assert_eq!(
                (next.owner_id, next.token),
                (lease.owner_id, lease.token.next())
            );
            assert!(
                registry
                    .resume(&request(terms), turns, start + at)
                    .is_none()
            );
            assert!(registry.remove(&lease).is_none(), "it is the next one's");
            registry.remove(&next)
        };
        let last = RETAIN - Duration::from_nanos(1);
        assert!(resume(Duration::ZERO, terms(TTL), TURNS).is_some());
        assert!(resume(last, terms(TTL), TURNS).is_some());
        assert!(
            resume(RETAIN, terms(TTL), TURNS).is_none(),
            "its time is over"
        );
        assert!(resume(last, terms(TTL / 2), TURNS).is_none(), "another ttl");
        assert!(
            resume(last, terms(TTL), 1).is_none(),
            "it has no token left"
        );
    }

    #[test]
    fn what_others_want_or_may_be_lost_is_not_retained() {
        let start = Clock::Boot.now();
        let retains = |change: fn(&mut Tenure), at: Duration| {
            let (mut registry, lease) = retaining(1, start);
            change(&mut registry.entry(&lease).expect("it is held").tenure);
            registry.retain(&lease, TURNS, start + at)
        };
        let as_it_is: fn(&mut Tenure) = |_| {};
        assert!(retains(as_it_is, TTL / 4));
        assert!(!retains(as_it_is, TTL / 3), "too little is left of it");
        let refused: [fn(&mut Tenure); 6] = [
            |tenure| tenure.contended = true,
            |tenure| tenure.handoff = TURNS - 1,
            |tenure| tenure.under_way = 1,
            |tenure| tenure.doubt = Doubt::Open,
            |tenure| tenure.doubt = Doubt::Asked,
            |tenure| {
                tenure.lease.lose(crate::lease::LossReason::NotOurs);
            },
        ];
        for change in refused {
            assert!(!retains(change, Duration::ZERO));
        }
        let (mut registry, lease) = retaining(1, start);
        assert!(registry.retained.close().is_empty());
        assert!(!registry.retain(&lease, TURNS, start), "the client ends");
    }

    #[test]
    fn a_holder_that_was_called_does_not_retain_its_lease() {
        let start = Clock::Boot.now();
        let notifier = GrantNotifier::default();
        let (mut registry, lease) = retaining(1, start);
        let owner = &mut registry.entry(&lease).expect("it is held").tenure.owner;
        *owner = Owner::again(owner_id(1), &owner.names.clone(), &notifier);
        assert!(notifier.call(owner_id(1)));
        assert!(!registry.retain(&lease, TURNS, start));
    }

    /// Two thirds of the ttl are what the next caller must have.
    #[test]
    fn a_lease_is_retained_for_as_long_as_somebody_may_have_it() {
        let start = Clock::Boot.now();
        let (mut registry, lease) = retaining(1, start);
        let late = lease.deadline().since(start) - TTL * 2 / 3 - RETAIN / 2;
        assert!(registry.retain(&lease, TURNS, start + late));
        assert_eq!(registry.next(), Some(start + late + RETAIN / 2));
    }

    #[test]
    fn each_retained_lease_is_given_back_once() {
        let start = Clock::Boot.now();
        let (mut registry, lease) = retaining(1, start);
        assert!(registry.retain(&lease, TURNS, start));
        assert!(registry.retained.remove_owner(owner_id(2)).is_none());
        let early = start + (RETAIN - Duration::from_nanos(1));
        assert!(registry.retained.remove_expired(early).is_empty());
        let expired = registry.retained.remove_expired(start + RETAIN);
        assert_eq!(expired.len(), 1);
        assert!(expired[0].heads_queue);
        assert!(registry.retained.remove_owner(owner_id(1)).is_none());
        assert_eq!(registry.next(), None);
    }

    #[test]
    fn a_retained_lease_ends_with_its_connection() {
        let start = Clock::Boot.now();
        let (mut registry, lease) = retaining(1, start);
        assert!(registry.retain(&lease, TURNS, start));
        registry.disconnected(start);
        assert!(
            registry
                .resume(&request(terms(TTL)), TURNS, start)
                .is_none()
        );
        assert!(registry.is_due_earlier());
        assert_eq!(registry.retained.remove_expired(start).len(), 1);
    }

    /// Nor once it failed: the server may not have the lease any more.
    #[test]
    fn a_lease_whose_renewal_is_not_answered_is_not_retained() {
        let start = Clock::Boot.now();
        let (mut registry, lease) = retaining(1, start);
        let due = registry.next().expect("it is renewed");
        let [renewal] = &registry.due(due, MANY).renewals[..] else {
            panic!("it is due");
        };
        let extension = renewal.extension;
        assert!(!registry.retain(&lease, TURNS, due), "it is under way");
        assert!(registry.unanswered(owner_id(1), due, 0.5).is_some());
        assert!(!registry.retain(&lease, TURNS, due), "it was not answered");
        registry.confirmed(owner_id(1), extension, confirmation(due, false));
        assert!(registry.retain(&lease, TURNS, due));
    }

    /// Until the next connection has confirmed it, nobody knows whether it is held.
    #[test]
    fn a_lease_in_doubt_is_retained_once_it_is_confirmed() {
        let start = Clock::Boot.now();
        let (mut registry, lease) = retaining(1, start);
        let broke = start + TTL / 100;
        registry.disconnected(broke);
        assert!(
            !registry.retain(&lease, TURNS, broke),
            "it is to be confirmed"
        );
        let [renewal] = &registry.due(broke, MANY).renewals[..] else {
            panic!("it is asked for");
        };
        let extension = renewal.extension;
        assert!(!registry.retain(&lease, TURNS, broke), "that is asked for");
        registry.confirmed(owner_id(1), extension, confirmation(start, false));
        assert!(
            !registry.retain(&lease, TURNS, broke),
            "the last server said so"
        );
        registry.confirmed(owner_id(1), extension, confirmation(broke, false));
        assert!(registry.retain(&lease, TURNS, broke));
        // It was confirmed since, so its next caller need not do so.
        let next = registry.resume(&request(terms(TTL)), TURNS, broke);
        assert!(!next.expect("it may have it").is_doubted());
    }

    #[test]
    fn what_was_granted_before_the_connection_broke_is_not_retained() {
        let start = Clock::Boot.now();
        let (mut registry, lease) = retaining(1, start);
        let tenure = registry.remove(&lease).expect("it is held");
        registry.disconnected(start + TTL / 100);
        registry.insert(tenure, start);
        assert!(!registry.retain(&lease, TURNS, start + TTL / 100));
    }

    /// A late answer to a renewal of the last caller, who has gone.
    #[test]
    fn a_retained_lease_that_is_not_ours_is_ended() {
        let start = Clock::Boot.now();
        let (mut registry, lease) = retaining(1, start);
        assert!(registry.retain(&lease, TURNS, start));
        assert!(registry.lost(owner_id(1)).is_none(), "nobody has it");
        assert!(registry.retained.remove_owner(owner_id(1)).is_some());
        assert!(
            registry
                .resume(&request(terms(TTL)), TURNS, start)
                .is_none()
        );
        assert_eq!(registry.next(), None);
    }

    #[test]
    fn nobody_is_told_to_look_who_looks_in_time() {
        let start = Clock::Boot.now();
        let mut registry = LeaseRegistry::default();
        assert!(!registry.is_due_earlier());
        registry.insert(tenure(1, start), start);
        assert!(registry.is_due_earlier());
        assert!(!registry.is_due_earlier(), "it was said");
        registry.insert(tenure(2, start + TTL), start);
        assert!(!registry.is_due_earlier());
        registry.plan(Some(start + TTL / 3 + TTL));
        assert!(registry.is_due_earlier());
        remove(&mut registry, 1).unwrap();
        remove(&mut registry, 2).unwrap();
        registry.plan(None);
        assert!(!registry.is_due_earlier());
    }
}
