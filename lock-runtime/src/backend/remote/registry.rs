//! Every hold of a client, and when each of them needs attention. Time is an argument.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use foldhash::HashMap;

use crate::backend::Request;
use crate::backend::remote::local_turns::SPELL;
use crate::backend::remote::owner::Episode;
use crate::backend::remote::retained::RetainedLeases;
use crate::backend::wire::{Renewal, Sent};
use crate::background::moment::Moment;
use crate::control::is_removed;
use crate::key::LockName;
use crate::lease::Hold;
use crate::lease::owner_id::{Acquisition, Owner};
use crate::lease::record::Grant;
use crate::lease::schedule::{Due, Extension, Lease, Terms};

/// A hold, and what giving it back takes.
#[derive(Debug)]
pub(crate) struct Tenure {
    pub(crate) hold: Arc<Hold>,
    pub(crate) episode: Episode,
    pub(crate) lease: Lease,
    /// Somebody queues in Redis, as far as is known: it is given back by hand-off.
    pub(crate) contended: bool,
    /// It is at the head of its client's line, and owes the next one its turn.
    pub(crate) heads_line: bool,
    /// How many had the grant before this holder.
    pub(crate) turn: u32,
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
const ASKED: usize = 1024;

/// The holds of a client by owner.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    /// Boxed, since a map keeps up to twice as many places as it has entries, and moves them all when
    /// it grows.
    entries: HashMap<Acquisition, Box<Entry>>,
    /// Every entry that is due at some time, in that order.
    agenda: BTreeSet<(Moment, Acquisition)>,
    /// Holds that may be to be confirmed now.
    doubtful: VecDeque<Acquisition>,
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
pub(crate) struct Agenda {
    pub(crate) renewals: Vec<Renewal>,
    /// Holds that are renewed again while an earlier renewal is still under way, and how many
    /// renewals have failed or are late by now.
    pub(crate) overdue: Vec<(Arc<Hold>, u32)>,
    pub(crate) lost: Vec<Owner>,
    /// When to look again; `None` if nothing is held. Past if there was more than was asked for.
    pub(crate) next: Option<Moment>,
}

impl Roster {
    /// Takes a hold in, which was granted in answer to a request sent at `sent`.
    pub(crate) fn insert(&mut self, mut tenure: Tenure, sent: Moment) {
        let acquisition = tenure.episode.ticket.owner.acquisition();
        if self.is_before_the_break(sent) {
            tenure.doubt();
            self.doubtful.push_back(acquisition);
        }
        self.put(Box::new(Entry { tenure, due: None }));
    }

    fn put(&mut self, mut entry: Box<Entry>) {
        let acquisition = entry.tenure.episode.ticket.owner.acquisition();
        let due = entry.tenure.lease.next_due();
        entry.due = Some(due);
        self.entries.insert(acquisition, entry);
        self.agenda.insert((due, acquisition));
    }

    /// Takes a hold out: it is not renewed from here on. `None` if its lease was passed on.
    pub(crate) fn remove(&mut self, hold: &Hold) -> Option<Tenure> {
        self.remove_entry(hold).map(|entry| entry.tenure)
    }

    fn remove_entry(&mut self, hold: &Hold) -> Option<Box<Entry>> {
        self.entry(hold)?;
        let acquisition = hold.owner.acquisition();
        let mut entry = self.entries.remove(&acquisition)?;
        if let Some(due) = entry.due {
            self.agenda.remove(&(due, acquisition));
        }
        entry.tenure.answered(&mut self.asked);
        Some(entry)
    }

    /// Whether something is due before anybody will look. Says so once.
    pub(crate) fn needs_a_look(&mut self) -> bool {
        let next = self.next();
        let sooner = next.is_some_and(|next| self.planned.is_none_or(|planned| next < planned));
        if sooner {
            self.planned = next;
        }
        sooner
    }

    /// Notes that somebody will look at `planned`; `None`: not before it is told to.
    pub(crate) fn plan(&mut self, planned: Option<Moment>) {
        self.planned = planned;
    }

    /// The connection broke on which all that is known was confirmed. The next one may lead to another
    /// server, which may have missed a renewal or the lock itself. What is retained is not worth a
    /// confirmation: its time is over.
    pub(crate) fn is_disconnected(&mut self, now: Moment) {
        self.broke_at = Some(now);
        if !is_removed!("retained_after_a_move") {
            self.retained.expire();
        }
        for entry in self.entries.values_mut() {
            entry.tenure.doubt();
        }
        self.ask_all();
    }

    /// There is a connection again: what could not be confirmed without one is asked for now.
    pub(crate) fn is_connected(&mut self) {
        self.ask_all();
    }

    fn ask_all(&mut self) {
        let entries = self.entries.iter();
        let open = entries.filter(|(_, entry)| entry.tenure.doubt == Doubt::Open);
        self.doubtful = open.map(|(&acquisition, _)| acquisition).collect();
    }

    /// A hold is to be confirmed at once.
    pub(crate) fn is_due(&mut self, hold: &Hold) {
        if let Some(entry) = self.entry(hold) {
            entry.tenure.doubt();
            self.doubtful.push_back(hold.owner.acquisition());
        }
    }

    /// Whether there is something to confirm, and it may be asked for.
    pub(crate) fn may_ask(&self) -> bool {
        self.asked < ASKED && !self.doubtful.is_empty()
    }

    fn is_before_the_break(&self, sent: Moment) -> bool {
        self.broke_at.is_some_and(|broke| sent < broke)
    }

    /// What is known of a hold that has the lease of its owner.
    fn entry(&mut self, hold: &Hold) -> Option<&mut Entry> {
        let entry = self.entries.get_mut(&hold.owner.acquisition())?;
        Some(&mut **entry).filter(|entry| entry.tenure.hold.token == hold.token)
    }

    /// The lock whose line this holder heads.
    pub(crate) fn line(&mut self, hold: &Hold) -> Option<LockName> {
        let tenure = &self.entry(hold)?.tenure;
        (tenure.heads_line).then(|| tenure.episode.names.lock.clone())
    }

    /// Passes the lease of a holder that is done to another caller, as its next turn of at most
    /// `turns`, if that may have it.
    pub(crate) fn pass(
        &mut self,
        hold: &Hold,
        request: &Request,
        turns: u32,
        now: Moment,
    ) -> Option<Arc<Hold>> {
        let entry = self.entries.get_mut(&hold.owner.acquisition())?;
        let tenure = &mut entry.tenure;
        if tenure.hold.token != hold.token {
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
        self.reschedule(hold.owner);
        Some(next)
    }

    /// Retains the lease of a holder that is done for the next caller of its client, if nobody else is
    /// known to want it and nothing is known against it.
    pub(crate) fn retain(&mut self, hold: &Hold, turns: u32, now: Moment) -> bool {
        let Some(entry) = self.entry(hold) else {
            return false;
        };
        let time = entry.tenure.retention(turns, now);
        if entry.due.is_none() || time.is_zero() || self.retained.is_closed() {
            return false;
        }
        let Some(entry) = self.remove_entry(hold) else {
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
    ) -> Option<Arc<Hold>> {
        let lock = &request.names.lock;
        let (tenure, until) = self.retained.get(lock)?;
        let is_over = now >= until || !tenure.may_pass(&request.terms, turns, now);
        if is_over && !is_removed!("retained_after_a_move") {
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
    pub(crate) fn due(&mut self, now: Moment, most: usize) -> Agenda {
        let mut agenda = Agenda::default();
        while let Some(&(moment, acquisition)) = self.agenda.first() {
            if moment > now || agenda.renewals.len() + agenda.lost.len() == most {
                break;
            }
            let Some(entry) = self.entries.get_mut(&acquisition) else {
                self.agenda.remove(&(moment, acquisition));
                continue;
            };
            let owner = entry.tenure.episode.ticket.owner;
            if !entry.tenure.hold.is_handed_over() {
                entry.tenure.lease.postpone(now);
            }
            if entry.tenure.hold.is_over() {
                // Lost by another's word, a shutdown's for one: it must not be renewed.
                agenda.lost.push(owner);
                self.unschedule(owner);
                continue;
            }
            match entry.tenure.lease.due(now) {
                Due::At(_) => {}
                Due::Renew(extension) => {
                    let Tenure { hold, lease, .. } = &entry.tenure;
                    if entry.tenure.under_way > 0 && !lease.is_quiet(now) {
                        agenda.overdue.push((hold.clone(), lease.unknown() - 1));
                    }
                    let renewal = entry.tenure.ask(extension, &mut self.asked);
                    agenda.renewals.push(renewal);
                }
                Due::Lost => {
                    agenda.lost.push(owner);
                    self.unschedule(owner);
                    continue;
                }
            }
            self.reschedule(owner);
        }
        while agenda.renewals.len() + agenda.lost.len() < most
            && self.asked < ASKED
            && let Some(acquisition) = self.doubtful.pop_front()
        {
            agenda.renewals.extend(self.confirmation(acquisition, now));
        }
        agenda.next = if self.may_ask() {
            Some(now)
        } else {
            self.next()
        };
        agenda
    }

    /// A renewal that shows whether a hold is one still, and gives it back what a renewal that was
    /// lost would have.
    fn confirmation(&mut self, acquisition: Acquisition, now: Moment) -> Option<Renewal> {
        let entry = self.entries.get_mut(&acquisition)?;
        let tenure = &mut entry.tenure;
        let is_held = entry.due.is_some() && !tenure.hold.is_over();
        if tenure.doubt != Doubt::Open || !is_held || !tenure.hold.is_handed_over() {
            return None;
        }
        let extension = tenure.lease.confirmation(now)?;
        let renewal = tenure.ask(extension, &mut self.asked);
        self.reschedule(renewal.owner);
        Some(renewal)
    }

    /// Drops the renewals of holds that were taken out since.
    pub(crate) fn retain_held(&self, renewals: &mut Vec<Renewal>) {
        renewals.retain(|renewal| self.entries.contains_key(&renewal.owner.acquisition()));
    }

    /// A renewal out of turn.
    pub(crate) fn renewal(&self, owner: Owner, now: Moment) -> Option<Renewal> {
        let tenure = &self.entries.get(&owner.acquisition())?.tenure;
        Some(tenure.renewal(Extension {
            ttl: tenure.lease.extension(now),
            extends: true,
        }))
    }

    /// A renewal was confirmed. Says whose; what is lost stays so.
    pub(crate) fn confirmed(
        &mut self,
        owner: Owner,
        extension: Extension,
        sent: Sent<Grant>,
    ) -> Option<Arc<Hold>> {
        let is_stale = self.is_before_the_break(sent.at);
        let Entry {
            tenure,
            due: Some(_),
        } = &mut **self.entries.get_mut(&owner.acquisition())?
        else {
            return None;
        };
        tenure.under_way = 0;
        tenure.answered(&mut self.asked);
        if is_stale {
            self.doubtful.push_back(owner.acquisition());
        } else {
            tenure.doubt = Doubt::None;
        }
        if tenure.hold.is_over() {
            // Too late: it may be lost for somebody already, and is found so when it is due.
            return None;
        }
        tenure.contended |= sent.answer.contended;
        if extension.extends {
            tenure.lease.confirmed(sent.at, extension.ttl);
        } else {
            tenure.lease.confirmed_as_it_is();
        }
        tenure.hold.extend(tenure.lease.deadline());
        let renewed = tenure.hold.clone();
        self.reschedule(owner);
        Some(renewed)
    }

    /// A renewal was not answered. Says whose it was, and how many were not in a row, if that is news.
    pub(crate) fn unanswered(
        &mut self,
        owner: Owner,
        now: Moment,
        jitter: f64,
    ) -> Option<(Arc<Hold>, u32)> {
        let entry = self.entries.get_mut(&owner.acquisition())?;
        entry.due?;
        entry.tenure.under_way = entry.tenure.under_way.saturating_sub(1);
        entry.tenure.answered(&mut self.asked);
        let Tenure { hold, lease, .. } = &mut entry.tenure;
        lease.unanswered(now, jitter);
        let told = (!lease.is_quiet(now)).then(|| (hold.clone(), lease.unknown()));
        self.reschedule(owner);
        told
    }

    /// The hold is lost: it needs no attention any more. It is for the caller to say so to its holder,
    /// and to give the line that it headed, if it did, its turn.
    pub(crate) fn lost(&mut self, owner: Owner) -> Option<(Arc<Hold>, Option<LockName>)> {
        self.unschedule(owner);
        let tenure = &mut self.entries.get_mut(&owner.acquisition())?.tenure;
        let heads_line = std::mem::take(&mut tenure.heads_line);
        let line = heads_line.then(|| tenure.episode.names.lock.clone());
        Some((tenure.hold.clone(), line))
    }

    /// When to look for what is due.
    pub(crate) fn next(&self) -> Option<Moment> {
        let due = self.agenda.first().map(|&(moment, _)| moment);
        due.into_iter().chain(self.retained.next()).min()
    }

    pub(crate) fn holds(&self) -> impl Iterator<Item = &Arc<Hold>> {
        self.entries.values().map(|entry| &entry.tenure.hold)
    }

    fn reschedule(&mut self, owner: Owner) {
        self.unschedule(owner);
        if let Some(entry) = self.entries.get_mut(&owner.acquisition()) {
            let due = entry.tenure.lease.next_due();
            entry.due = Some(due);
            self.agenda.insert((due, owner.acquisition()));
        }
    }

    fn unschedule(&mut self, owner: Owner) {
        let due = self
            .entries
            .get_mut(&owner.acquisition())
            .and_then(|entry| entry.due.take());
        if let Some(due) = due {
            self.agenda.remove(&(due, owner.acquisition()));
        }
    }
}

impl Tenure {
    /// Whether the lease may go, as it is, to a caller with these terms.
    fn may_pass(&self, terms: &Terms, turns: u32, now: Moment) -> bool {
        let ttl = terms.first_ttl();
        let fits = ttl == self.hold.terms.first_ttl();
        let is_long = self.lease.deadline().since(now) >= ttl * 2 / 3;
        let has_token = self.turn + 1 < turns;
        let contended = self.contended || self.episode.is_followed();
        let is_fair = !contended || now.since(self.since) < SPELL;
        fits && is_long && has_token && is_fair && !self.hold.is_over()
    }

    /// The lease goes to another caller, as it is.
    fn pass(&mut self, request: &Request, now: Moment) -> Arc<Hold> {
        self.turn += 1;
        self.lease = self.lease.passed(now, &request.terms);
        self.hold = Arc::new(self.hold.successor(request, &self.lease));
        self.hold.clone()
    }

    /// For how long the lease of a body that is over may be retained; zero is not at all. Nobody could
    /// have it when less than two thirds of its ttl are left.
    fn retention(&self, turns: u32, now: Moment) -> Duration {
        let terms = &self.hold.terms;
        let has_token = self.turn + 1 < turns;
        // Every owner is called when its connection breaks: messages may have been missed.
        let is_wanted = self.contended || self.episode.is_followed();
        let is_answered = self.under_way == 0 && self.lease.unknown() == 0;
        let is_sure = is_answered && self.doubt == Doubt::None && !self.hold.is_over();
        if !self.hold.is_handed_over() || !has_token || is_wanted || !is_sure {
            return Duration::ZERO;
        }
        let left = self.lease.deadline().since(now);
        let room = left.saturating_sub(terms.first_ttl() * 2 / 3);
        terms.retain.min(room)
    }

    fn renewal(&self, extension: Extension) -> Renewal {
        Renewal {
            owner: self.episode.ticket.owner,
            lock: self.episode.names.lock.clone(),
            extension,
        }
    }

    /// It is to be confirmed, unless that is asked for already.
    fn doubt(&mut self) {
        self.hold.doubt();
        self.lease.doubted();
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
    use crate::backend::remote::grant_notifier::Calls;
    use crate::background::clock::Clock;
    use crate::config::TURNS;
    use crate::key::{LockKey, RecordNames};
    use crate::lease::fencing_token::FencingToken;
    use crate::lease::owner_id::ProcessId;
    use crate::lease::schedule::MIN_TTL;
    use crate::lease::schedule::margin;

    const TTL: Duration = Duration::from_secs(3600);

    const EXTENSION: Extension = Extension {
        ttl: TTL,
        extends: true,
    };

    /// More than there is.
    const MANY: usize = usize::MAX;

    fn owner(number: u16) -> Owner {
        let mut random = [0; 11];
        random[..2].copy_from_slice(&number.to_be_bytes());
        Owner::from_random(ProcessId::from_random([0; 6]), random)
    }

    /// A hold of an hour, granted at `at`.
    fn tenure(number: u16, at: Moment) -> Tenure {
        let key = LockKey::from(format!("key-{number}"));
        let names = RecordNames::new("lock:", &key).unwrap_or_else(|problem| panic!("{problem}"));
        let terms = Terms {
            ttl: TTL,
            renew: true,
            max_hold: None,
            retain: Duration::ZERO,
        };
        let lease = Lease::granted(at, &terms);
        let token = FencingToken::new(16);
        let hold = Hold::new(
            key,
            owner(number),
            token,
            terms,
            ("", "key-<n>"),
            Clock::Boot,
            &lease,
        );
        hold.handed_over();
        Tenure {
            hold: Arc::new(hold),
            episode: Episode::again(owner(number), &names, &Calls::default()),
            lease,
            contended: false,
            heads_line: true,
            turn: 0,
            since: at,
            under_way: 0,
            doubt: Doubt::None,
        }
    }

    fn confirmation(at: Moment, contended: bool) -> Sent<Grant> {
        let token = FencingToken::new(16);
        Sent {
            at,
            answer: Grant { contended, token },
        }
    }

    /// What a caller asks for that comes next.
    fn request(terms: Terms) -> Request {
        let Tenure { hold, episode, .. } = tenure(1, Moment::from_nanos(0));
        Request {
            key: hold.key.clone(),
            names: episode.names.clone(),
            terms,
            wait: TTL,
            label: "".into(),
            function: "next",
            template: "key-<n>",
        }
    }

    fn terms(ttl: Duration) -> Terms {
        Terms {
            ttl,
            renew: true,
            max_hold: None,
            retain: Duration::ZERO,
        }
    }

    fn remove(roster: &mut Roster, number: u16) -> Option<Tenure> {
        let hold = roster
            .entries
            .get(&owner(number).acquisition())?
            .tenure
            .hold
            .clone();
        roster.remove(&hold)
    }

    fn overdue(agenda: &Agenda) -> Vec<(Owner, u32)> {
        let overdue = agenda.overdue.iter();
        overdue.map(|(hold, count)| (hold.owner, *count)).collect()
    }

    fn owners(agenda: &Agenda) -> Vec<Owner> {
        agenda
            .renewals
            .iter()
            .map(|renewal| renewal.owner)
            .collect()
    }

    #[test]
    fn what_is_due_comes_in_order_and_as_much_as_was_asked_for() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        let mut dues: Vec<(Moment, Owner)> = Vec::new();
        for number in 0..5 {
            let tenure = tenure(number, start + Duration::from_millis(u64::from(number)));
            dues.push((tenure.lease.next_due(), owner(number)));
            roster.insert(tenure, start);
        }
        dues.sort();
        assert_eq!(roster.due(start, MANY).next, Some(dues[0].0));

        let all = start + TTL / 2;
        let mut found = Vec::new();
        let again = all + TTL / 6;
        for (count, next) in [(2, dues[2].0), (2, dues[4].0), (1, again)] {
            let agenda = roster.due(all, 2);
            assert_eq!((agenda.renewals.len(), agenda.next), (count, Some(next)));
            assert!(agenda.lost.is_empty());
            found.extend(owners(&agenda));
        }
        let in_order: Vec<Owner> = dues.iter().map(|&(_, owner)| owner).collect();
        assert_eq!(found, in_order);
    }

    #[test]
    fn what_was_taken_in_a_burst_is_not_renewed_in_one() {
        const HOLDS: u16 = 10_000;
        const STEPS: u32 = 120;
        const STEP: Duration = Duration::from_secs(10);
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        for number in 0..HOLDS {
            let taken = start + Duration::from_micros(20) * u32::from(number);
            roster.insert(tenure(number, taken), start);
        }
        let mut last = HashMap::default();
        let mut sent = Vec::new();
        for step in 1..=3 * STEPS {
            let now = start + STEP * step;
            let renewals = roster.due(now, MANY).renewals;
            sent.push(renewals.len());
            for Renewal {
                owner, extension, ..
            } in renewals
            {
                let before = last.insert(owner, now).unwrap_or(start + STEP);
                assert!(
                    now.since(before) <= TTL / 3 + STEP,
                    "{:?}",
                    now.since(before)
                );
                roster.confirmed(owner, extension, confirmation(now, false));
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
        let mut roster = Roster::default();
        roster.insert(tenure(1, start), start);
        let first = start + TTL / 3;
        assert_eq!(owners(&roster.due(first, MANY)), [owner(1)]);
        let agenda = roster.due(first + TTL / 6, MANY);
        assert_eq!(owners(&agenda), [owner(1)]);
        assert_eq!(overdue(&agenda), [(owner(1), 1)]);

        let renewed = roster.confirmed(owner(1), EXTENSION, confirmation(first, true));
        assert_eq!(renewed.map(|hold| hold.owner), Some(owner(1)));
        let next = roster.next().unwrap();
        assert!(next > first + TTL / 12 && next <= first + TTL / 3);
        let tenure = remove(&mut roster, 1).unwrap();
        assert!(tenure.contended, "the answer said that somebody queues");
        assert_eq!(tenure.hold.deadline(), tenure.lease.deadline());
    }

    #[test]
    fn a_renewal_that_failed_is_not_told_as_late_as_well() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        roster.insert(tenure(1, start), start);
        let first = start + TTL / 3;
        assert_eq!(owners(&roster.due(first, MANY)), [owner(1)]);
        let (_, failures) = roster.unanswered(owner(1), first, 0.5).unwrap();
        assert_eq!(failures, 1);
        let again = roster.due(roster.next().unwrap(), MANY);
        assert_eq!(owners(&again), [owner(1)]);
        assert!(again.overdue.is_empty());
    }

    #[test]
    fn a_renewal_whose_hold_was_given_back_is_dropped() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        roster.insert(tenure(1, start), start);
        roster.insert(tenure(2, start), start);
        let mut agenda = roster.due(start + TTL / 3, MANY);
        remove(&mut roster, 1).unwrap();
        roster.retain_held(&mut agenda.renewals);
        assert_eq!(owners(&agenda), [owner(2)]);
    }

    #[test]
    fn a_lost_hold_passes_its_turn_once_and_is_not_renewed_again() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        roster.insert(tenure(1, start), start);
        assert_eq!(roster.due(start + TTL, MANY).lost, [owner(1)]);
        let (hold, line) = roster.lost(owner(1)).unwrap();
        assert_eq!(
            (hold.owner, line.as_deref()),
            (owner(1), Some("lock:key-1"))
        );
        assert_eq!(roster.lost(owner(1)).unwrap().1, None);
        let late = roster.confirmed(owner(1), EXTENSION, confirmation(start + TTL, false));
        assert!(late.is_none());
        assert!(roster.unanswered(owner(1), start + TTL, 0.5).is_none());
        assert_eq!(roster.next(), None);
        assert!(
            remove(&mut roster, 1).is_some(),
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
        tenure.lease = Lease::granted(long_ago, &brief);
        tenure.hold = Arc::new(tenure.hold.successor(&request(brief), &tenure.lease));
        let (hold, deadline) = (tenure.hold.clone(), tenure.lease.deadline());
        let mut roster = Roster::default();
        let granted = tenure.since;
        roster.insert(tenure, granted);
        let now = Clock::Boot.now();
        assert!(now > deadline);
        let late = roster.confirmed(owner(1), EXTENSION, confirmation(now, false));
        assert!(late.is_none());
        assert_eq!(hold.deadline(), deadline);
        assert_eq!(roster.due(now, MANY).lost, [owner(1)]);
    }

    #[test]
    fn a_hold_that_others_ended_is_found_lost_when_it_is_due() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        let tenure = tenure(1, start);
        tenure.hold.lose(crate::lease::Loss::Shutdown);
        roster.insert(tenure, start);
        let agenda = roster.due(start + TTL / 3, MANY);
        assert_eq!((owners(&agenda), agenda.lost), (vec![], vec![owner(1)]));
    }

    #[test]
    fn what_was_confirmed_on_a_connection_that_is_gone_is_asked_for_once() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        for number in 0..5 {
            roster.insert(tenure(number, start), start);
        }
        roster.lost(owner(0)).unwrap();
        // Before any of them is to be renewed by itself.
        let now = start + TTL / 20;
        roster.is_disconnected(now);
        let mut found = Vec::new();
        while found.len() < 4 {
            let agenda = roster.due(now, 3);
            assert!(!agenda.renewals.is_empty());
            assert!(agenda.renewals.iter().all(|it| it.extension == EXTENSION));
            found.extend(owners(&agenda));
            // There is a connection now: no reason to ask for what is under way.
            roster.is_connected();
        }
        found.sort();
        assert_eq!(found, [1, 2, 3, 4].map(owner));
        let agenda = roster.due(now, MANY);
        assert!(owners(&agenda).is_empty());
        assert!(agenda.next.unwrap() > now);

        for number in 1..4 {
            roster.confirmed(owner(number), EXTENSION, confirmation(now, false));
        }
        assert!(roster.unanswered(owner(4), now, 0.5).is_none(), "no news");
        roster.is_connected();
        assert_eq!(owners(&roster.due(now, MANY)), [owner(4)]);
        // Without a word of a connection, too, and it is news once a regular one would have been due.
        assert!(roster.unanswered(owner(4), now, 0.5).is_none());
        let soon = roster.due(now, MANY).next.unwrap();
        assert!(soon > now && soon < now + TTL / 20);
        let late = start + TTL / 3;
        assert_eq!(owners(&roster.due(late, 1)).len(), 1);
        assert!(roster.unanswered(owner(4), late, 0.5).is_some());
    }

    #[test]
    fn what_was_sent_on_the_connection_that_is_gone_proves_nothing() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        let (sent, broke) = (start + TTL / 10, start + TTL / 9);
        roster.insert(tenure(1, start), start);
        roster.is_disconnected(broke);
        assert_eq!(owners(&roster.due(broke, MANY)), [owner(1)]);
        // The answer to a renewal that was read before the connection broke.
        roster.confirmed(owner(1), EXTENSION, confirmation(sent, false));
        assert_eq!(owners(&roster.due(broke, MANY)), [owner(1)]);
        roster.confirmed(owner(1), EXTENSION, confirmation(broke, false));
        assert!(owners(&roster.due(broke, MANY)).is_empty());
        // A grant that was answered before, and comes only now.
        roster.insert(tenure(2, sent), sent);
        roster.insert(tenure(3, broke), broke);
        assert_eq!(owners(&roster.due(broke, MANY)), [owner(2)]);
    }

    #[test]
    fn only_so_many_confirmations_are_under_way() {
        const HOLDS: u16 = ASKED as u16 + 100;
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        for number in 0..HOLDS {
            roster.insert(tenure(number, start), start);
        }
        let now = start + TTL / 20;
        roster.is_disconnected(now);
        let first = roster.due(now, MANY);
        assert_eq!(first.renewals.len(), ASKED);
        assert!(first.next.unwrap() > now && !roster.may_ask());
        let [one, two, three, ..] = owners(&first)[..] else {
            panic!("there are more")
        };
        roster.confirmed(one, EXTENSION, confirmation(now, false));
        roster.unanswered(two, now, 0.5);
        let hold = roster.entries[&three.acquisition()].tenure.hold.clone();
        roster.remove(&hold).unwrap();
        assert!(roster.may_ask());
        assert_eq!(roster.due(now, MANY).renewals.len(), 3);
    }

    #[test]
    fn a_lease_that_is_not_renewed_is_confirmed_for_what_its_holder_counts_on() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        let mut tenure = tenure(1, start);
        let terms = Terms {
            renew: false,
            ..terms(TTL)
        };
        tenure.lease = Lease::granted(start, &terms);
        let deadline = tenure.lease.deadline();
        roster.insert(tenure, start);
        let now = start + TTL / 2;
        roster.is_disconnected(now);
        let agenda = roster.due(now, MANY);
        let [renewal] = &agenda.renewals[..] else {
            panic!("one")
        };
        let Extension { ttl, extends } = renewal.extension;
        assert!(!extends);
        // As any lease it ends later at the server, by the margin of the time that is left.
        let counted = now + ttl.saturating_sub(margin(ttl));
        assert!(counted >= deadline && counted < deadline + Duration::from_millis(2));
        assert!(roster.unanswered(owner(1), now, 0.5).is_none());
        let again = roster.next().unwrap();
        assert!(again < now + TTL / 20, "it is asked for again");
        assert_eq!(owners(&roster.due(again, MANY)), [owner(1)]);
        let sent = again + TTL / 100;
        let renewed = roster.confirmed(owner(1), renewal.extension, confirmation(sent, false));
        assert_eq!(renewed.unwrap().deadline(), deadline);
        assert_eq!(roster.next(), Some(deadline), "it is not renewed");
    }

    #[test]
    fn what_was_not_handed_over_is_not_renewed_but_confirmed_when_it_is() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        let mut tenure = tenure(1, start);
        let request = request(terms(TTL));
        tenure.hold = Arc::new(tenure.hold.successor(&request, &tenure.lease));
        let hold = tenure.hold.clone();
        roster.insert(tenure, start);
        let first = start + TTL / 3;
        assert!(owners(&roster.due(first, MANY)).is_empty());
        let second = roster.next().unwrap();
        assert!(second > first && second <= first + TTL / 6);
        assert!(!hold.is_doubted());
        roster.is_disconnected(first);
        assert!(owners(&roster.due(first, MANY)).is_empty());
        assert!(hold.is_doubted());
        hold.handed_over();
        roster.is_due(&hold);
        assert_eq!(owners(&roster.due(first, MANY)), [owner(1)]);
    }

    #[test]
    fn a_turn_in_doubt_is_confirmed_by_the_next_one() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        roster.insert(tenure(1, start), start);
        let hold = roster.holds().next().unwrap().clone();
        let now = start + TTL / 10;
        roster.is_disconnected(now);
        assert_eq!(owners(&roster.due(now, MANY)), [owner(1)]);
        let next = roster.pass(&hold, &request(terms(TTL)), TURNS, now);
        let next = next.expect("it may be had");
        assert!(next.is_doubted());
        next.handed_over();
        roster.is_due(&next);
        assert_eq!(owners(&roster.due(now, MANY)), [owner(1)]);
        assert_eq!(roster.asked, 1);
    }

    #[test]
    fn what_nobody_comes_for_is_lost_when_its_lease_ends() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        let mut tenure = tenure(1, start);
        let request = request(terms(TTL));
        tenure.hold = Arc::new(tenure.hold.successor(&request, &tenure.lease));
        roster.insert(tenure, start);
        let mut agenda = Agenda::default();
        while agenda.lost.is_empty() {
            let next = roster.next().expect("it is watched");
            agenda = roster.due(next, MANY);
            assert!(agenda.renewals.is_empty());
        }
        assert_eq!(agenda.lost, [owner(1)]);
    }

    #[test]
    fn what_was_given_back_is_not_due() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        roster.insert(tenure(1, start), start);
        remove(&mut roster, 1).unwrap();
        assert_eq!(roster.next(), None);
        assert!(remove(&mut roster, 1).is_none());
    }

    #[test]
    fn a_lease_passes_as_it_is_with_a_token_of_its_own() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        roster.insert(tenure(1, start), start);
        let due = roster.next();
        let mut hold = roster.holds().next().unwrap().clone();
        let first = hold.clone();
        for turn in 1..TURNS {
            let next = roster.pass(&hold, &request(terms(TTL)), TURNS, start);
            let next = next.expect("it may be had");
            assert_eq!(next.owner, first.owner);
            assert_eq!(next.token.get(), first.token.get() + u64::from(turn));
            assert_eq!(next.deadline(), first.deadline());
            assert_eq!(next.function, "next");
            assert!(roster.remove(&hold).is_none(), "its lease was passed on");
            hold = next;
        }
        let beyond = roster.pass(&hold, &request(terms(TTL)), TURNS, start);
        assert!(beyond.is_none(), "the grant has no more tokens");
        assert_eq!(roster.next(), due);
        assert!(roster.remove(&hold).is_some());
    }

    #[test]
    fn a_renewal_of_one_turn_carries_the_next_one_on() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        roster.insert(tenure(1, start), start);
        let hold = roster.holds().next().unwrap().clone();
        let asked = roster.due(start + TTL / 3, MANY);
        assert_eq!(owners(&asked), [owner(1)]);
        let next = roster.pass(&hold, &request(terms(TTL)), TURNS, start);
        let next = next.unwrap();
        let sent = start + TTL / 3;
        let renewed = roster.confirmed(owner(1), EXTENSION, confirmation(sent, false));
        assert!(Arc::ptr_eq(&renewed.unwrap(), &next));
        assert!(next.deadline() > hold.deadline());
        // The server says who has it by the token of the grant. That is no news of the turn.
        assert_eq!(next.token.get(), hold.token.get() + 1);
    }

    #[test]
    fn a_lease_passes_only_to_whom_it_could_have_been_granted() {
        let start = Clock::Boot.now();
        let passes = |change: fn(&mut Tenure), terms: Terms, after: Duration| {
            let mut roster = Roster::default();
            let mut tenure = tenure(1, start);
            change(&mut tenure);
            let hold = tenure.hold.clone();
            roster.insert(tenure, start);
            let next = roster.pass(&hold, &request(terms), TURNS, start + after);
            next.is_some()
        };
        let as_it_is: fn(&mut Tenure) = |_| {};
        let contended: fn(&mut Tenure) = |tenure| tenure.contended = true;
        let lost: fn(&mut Tenure) = |tenure| {
            tenure.hold.lose(crate::lease::Loss::NotOurs);
        };
        let soon = Duration::from_millis(999);
        assert!(passes(as_it_is, terms(TTL), TTL / 4));
        assert!(!passes(as_it_is, terms(TTL), TTL / 3), "too little is left");
        assert!(!passes(as_it_is, terms(TTL / 2), soon), "another ttl");
        let held_for_less = Terms {
            max_hold: Some(TTL / 2),
            ..terms(TTL)
        };
        assert!(!passes(as_it_is, held_for_less, soon), "another first ttl");
        assert!(passes(contended, terms(TTL), soon));
        assert!(!passes(contended, terms(TTL), SPELL), "others have waited");
        assert!(!passes(lost, terms(TTL), soon), "it is lost");
    }

    /// A hold whose body is over, and which retains its lease for `RETAIN`.
    fn retaining(number: u16, at: Moment) -> (Roster, Arc<Hold>) {
        let mut roster = Roster::default();
        let mut tenure = tenure(number, at);
        let terms = Terms {
            retain: RETAIN,
            ..tenure.hold.terms
        };
        let hold = &tenure.hold;
        let hold = Hold::new(
            hold.key.clone(),
            hold.owner,
            hold.token,
            terms,
            ("", "key-<n>"),
            Clock::Boot,
            &tenure.lease,
        );
        hold.handed_over();
        tenure.hold = Arc::new(hold);
        let hold = tenure.hold.clone();
        roster.insert(tenure, at);
        (roster, hold)
    }

    const RETAIN: Duration = Duration::from_secs(60);

    #[test]
    fn a_retained_lease_is_the_next_callers_until_its_time_is_over() {
        let start = Clock::Boot.now();
        let resume = |at: Duration, terms, turns| {
            let (mut roster, hold) = retaining(1, start);
            assert!(roster.retain(&hold, TURNS, start));
            assert_eq!(roster.next(), Some(start + RETAIN));
            assert!(roster.due(start + RETAIN, MANY).renewals.is_empty());
            let next = roster.resume(&request(terms), turns, start + at)?;
            assert_eq!((next.owner, next.token), (hold.owner, hold.token.next()));
            assert!(roster.resume(&request(terms), turns, start + at).is_none());
            assert!(roster.remove(&hold).is_none(), "it is the next one's");
            roster.remove(&next)
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
            let (mut roster, hold) = retaining(1, start);
            change(&mut roster.entry(&hold).expect("it is held").tenure);
            roster.retain(&hold, TURNS, start + at)
        };
        let as_it_is: fn(&mut Tenure) = |_| {};
        assert!(retains(as_it_is, TTL / 4));
        assert!(!retains(as_it_is, TTL / 3), "too little is left of it");
        let refused: [fn(&mut Tenure); 6] = [
            |tenure| tenure.contended = true,
            |tenure| tenure.turn = TURNS - 1,
            |tenure| tenure.under_way = 1,
            |tenure| tenure.doubt = Doubt::Open,
            |tenure| tenure.doubt = Doubt::Asked,
            |tenure| {
                tenure.hold.lose(crate::lease::Loss::NotOurs);
            },
        ];
        for change in refused {
            assert!(!retains(change, Duration::ZERO));
        }
        let (mut roster, hold) = retaining(1, start);
        assert!(roster.retained.close().is_empty());
        assert!(!roster.retain(&hold, TURNS, start), "the client ends");
    }

    #[test]
    fn a_holder_that_was_called_does_not_retain_its_lease() {
        let start = Clock::Boot.now();
        let calls = Calls::default();
        let (mut roster, hold) = retaining(1, start);
        let episode = &mut roster.entry(&hold).expect("it is held").tenure.episode;
        *episode = Episode::again(owner(1), &episode.names.clone(), &calls);
        assert!(calls.call(owner(1)));
        assert!(!roster.retain(&hold, TURNS, start));
    }

    /// Two thirds of the ttl are what the next caller must have.
    #[test]
    fn a_lease_is_retained_for_as_long_as_somebody_may_have_it() {
        let start = Clock::Boot.now();
        let (mut roster, hold) = retaining(1, start);
        let late = hold.deadline().since(start) - TTL * 2 / 3 - RETAIN / 2;
        assert!(roster.retain(&hold, TURNS, start + late));
        assert_eq!(roster.next(), Some(start + late + RETAIN / 2));
    }

    #[test]
    fn each_retained_lease_is_given_back_once() {
        let start = Clock::Boot.now();
        let (mut roster, hold) = retaining(1, start);
        assert!(roster.retain(&hold, TURNS, start));
        assert!(roster.retained.remove_owner(owner(2)).is_none());
        let early = start + (RETAIN - Duration::from_nanos(1));
        assert!(roster.retained.remove_expired(early).is_empty());
        let expired = roster.retained.remove_expired(start + RETAIN);
        assert_eq!(expired.len(), 1);
        assert!(expired[0].heads_line);
        assert!(roster.retained.remove_owner(owner(1)).is_none());
        assert_eq!(roster.next(), None);
    }

    #[test]
    fn a_retained_lease_ends_with_its_connection() {
        let start = Clock::Boot.now();
        let (mut roster, hold) = retaining(1, start);
        assert!(roster.retain(&hold, TURNS, start));
        roster.is_disconnected(start);
        assert!(roster.resume(&request(terms(TTL)), TURNS, start).is_none());
        assert!(roster.needs_a_look());
        assert_eq!(roster.retained.remove_expired(start).len(), 1);
    }

    /// Nor once it failed: the server may not have the lease any more.
    #[test]
    fn a_lease_whose_renewal_is_not_answered_is_not_retained() {
        let start = Clock::Boot.now();
        let (mut roster, hold) = retaining(1, start);
        let due = roster.next().expect("it is renewed");
        let [renewal] = &roster.due(due, MANY).renewals[..] else {
            panic!("it is due");
        };
        let extension = renewal.extension;
        assert!(!roster.retain(&hold, TURNS, due), "it is under way");
        assert!(roster.unanswered(owner(1), due, 0.5).is_some());
        assert!(!roster.retain(&hold, TURNS, due), "it was not answered");
        roster.confirmed(owner(1), extension, confirmation(due, false));
        assert!(roster.retain(&hold, TURNS, due));
    }

    /// Until the next connection has confirmed it, nobody knows whether it is held.
    #[test]
    fn a_lease_in_doubt_is_retained_once_it_is_confirmed() {
        let start = Clock::Boot.now();
        let (mut roster, hold) = retaining(1, start);
        let broke = start + TTL / 100;
        roster.is_disconnected(broke);
        assert!(!roster.retain(&hold, TURNS, broke), "it is to be confirmed");
        let [renewal] = &roster.due(broke, MANY).renewals[..] else {
            panic!("it is asked for");
        };
        let extension = renewal.extension;
        assert!(!roster.retain(&hold, TURNS, broke), "that is asked for");
        roster.confirmed(owner(1), extension, confirmation(start, false));
        assert!(
            !roster.retain(&hold, TURNS, broke),
            "the last server said so"
        );
        roster.confirmed(owner(1), extension, confirmation(broke, false));
        assert!(roster.retain(&hold, TURNS, broke));
        // It was confirmed since, so its next caller need not do so.
        let next = roster.resume(&request(terms(TTL)), TURNS, broke);
        assert!(!next.expect("it may have it").is_doubted());
    }

    #[test]
    fn what_was_granted_before_the_connection_broke_is_not_retained() {
        let start = Clock::Boot.now();
        let (mut roster, hold) = retaining(1, start);
        let tenure = roster.remove(&hold).expect("it is held");
        roster.is_disconnected(start + TTL / 100);
        roster.insert(tenure, start);
        assert!(!roster.retain(&hold, TURNS, start + TTL / 100));
    }

    /// A late answer to a renewal of the last caller, who has gone.
    #[test]
    fn a_retained_lease_that_is_not_ours_is_ended() {
        let start = Clock::Boot.now();
        let (mut roster, hold) = retaining(1, start);
        assert!(roster.retain(&hold, TURNS, start));
        assert!(roster.lost(owner(1)).is_none(), "nobody has it");
        assert!(roster.retained.remove_owner(owner(1)).is_some());
        assert!(roster.resume(&request(terms(TTL)), TURNS, start).is_none());
        assert_eq!(roster.next(), None);
    }

    #[test]
    fn nobody_is_told_to_look_who_looks_in_time() {
        let start = Clock::Boot.now();
        let mut roster = Roster::default();
        assert!(!roster.needs_a_look());
        roster.insert(tenure(1, start), start);
        assert!(roster.needs_a_look());
        assert!(!roster.needs_a_look(), "it was said");
        roster.insert(tenure(2, start + TTL), start);
        assert!(!roster.needs_a_look());
        roster.plan(Some(start + TTL / 3 + TTL));
        assert!(roster.needs_a_look());
        remove(&mut roster, 1).unwrap();
        remove(&mut roster, 2).unwrap();
        roster.plan(None);
        assert!(!roster.needs_a_look());
    }
}
