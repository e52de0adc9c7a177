//! Tests decisions of the store that callers cannot cause at will: which callers are woken, and what expires unnoticed.
//! `conformance` has cases for the others. Times are in milliseconds, a letter stands for a holder's lease, and a
//! number for a waiter.

use std::time::Duration;

use super::lock_states::Taken;
use super::*;
use crate::background::clock::Clock;
use crate::key::{Lock, LockKey, OneOrMore, RecordNames};
use crate::lease::schedule::{LeaseTerms, RenewalSchedule};
use crate::lease::{Lease, Mode, Request};
use crate::telemetry::CallLabels;

pub(super) const KEY: &str = "order:42";
pub(super) const TTL: u64 = 10_000;

impl Store {
    pub(crate) fn is_empty(&self) -> bool {
        self.locks.is_empty()
    }

    pub(crate) fn queue_len(&self, key: &str) -> usize {
        self.locks.get(key).map_or(0, |lock| lock.queue.len())
    }
}

pub(super) fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

pub(super) fn at(number: u64) -> Moment {
    Moment::from_nanos(0) + ms(number)
}

/// A lease that ends one ttl after its grant or its last renewal.
pub(super) const FIXED: LeaseTerms = LeaseTerms {
    ttl: Duration::from_millis(TTL),
    renew: false,
    max_hold: None,
    retain: Duration::ZERO,
    min_hold_ms: 0,
};

pub(super) const RENEWED: LeaseTerms = LeaseTerms {
    renew: true,
    ..FIXED
};

/// A store, the effects of its last decision, the leases by letter and the waiters by number.
#[derive(Default)]
pub(super) struct Scene {
    pub(super) store: Store,
    ids: HashMap<u8, OwnerId>,
    leases: HashMap<char, Arc<Lease>>,
    waiters: HashMap<u8, Arc<Notify>>,
    pub(super) expired: Vec<char>,
    pub(super) released: Vec<char>,
    pub(super) wake: Vec<u8>,
}

impl Scene {
    pub(super) fn note<T>(&mut self, decision: Decision<T>) -> T {
        let Effects {
            expired,
            released,
            wake,
        } = decision.effects;
        self.expired = expired.iter().map(|watch| self.letter(watch)).collect();
        self.released = released.iter().map(|watch| self.letter(watch)).collect();
        self.wake = wake.iter().map(|notify| self.number(notify)).collect();
        decision.answer
    }

    /// Creates the watch of the lease with this letter, which has no deadline of its own.
    pub(super) fn watch(&mut self, letter: char) -> LeaseWatch {
        LeaseWatch::start(self.leases.entry(letter).or_insert_with(lease))
    }

    fn letter(&self, watch: &LeaseWatch) -> char {
        let lease = watch.lease().expect("the scene has it");
        let mut leases = self.leases.iter();
        let (letter, _) = leases
            .find(|(_, known)| Arc::ptr_eq(known, &lease))
            .unwrap();
        *letter
    }

    fn number(&self, notify: &Arc<Notify>) -> u8 {
        let mut waiters = self.waiters.iter();
        let (number, _) = waiters
            .find(|(_, known)| Arc::ptr_eq(known, notify))
            .unwrap();
        *number
    }

    /// Returns the leases of the holders of [`KEY`].
    pub(super) fn holders(&mut self, now: u64) -> Vec<char> {
        let watches = self.store.watches_of(KEY, at(now));
        let leases = watches.map(|watches| watches.filter_map(LeaseWatch::lease).collect());
        let leases: Vec<_> = self.note(leases);
        let watches = leases.iter().map(LeaseWatch::start);
        watches.map(|watch| self.letter(&watch)).collect()
    }

    /// Makes one attempt, which does not queue.
    pub(super) fn attempt(&mut self, terms: LeaseTerms, now: u64) -> Result<Grant, Busy> {
        self.attempt_share(None, terms, now)
    }

    pub(super) fn attempt_share(
        &mut self,
        share: Option<Share>,
        terms: LeaseTerms,
        now: u64,
    ) -> Result<Grant, Busy> {
        let ask = Ask {
            key: KEY,
            label: &"a caller".into(),
            share,
            terms,
            owner: None,
            queue_with: None,
        };
        let decision = self.store.acquire(&ask, at(now));
        self.note(decision)
    }

    /// Acquires a free lock, and registers a lease.
    pub(super) fn hold(&mut self, letter: char, terms: LeaseTerms, now: u64) -> Grant {
        self.hold_share(letter, None, terms, now)
    }

    /// Registers a lease. Returns `false` if the lock is no longer held.
    pub(super) fn register(&mut self, grant: Grant, letter: char) -> bool {
        let watch = self.watch(letter);
        self.store.register(owner(grant), watch).is_none()
    }

    pub(super) fn hold_share(
        &mut self,
        letter: char,
        share: impl Into<Option<Share>>,
        terms: LeaseTerms,
        now: u64,
    ) -> Grant {
        let grant = self.attempt_share(share.into(), terms, now);
        let grant = grant.expect("there is room");
        assert!(self.register(grant, letter), "it is held");
        grant
    }

    /// Makes the first attempt of a waiter, or its next one.
    pub(super) fn wait(&mut self, waiter: u8, now: u64) -> Result<Grant, Busy> {
        self.wait_for(waiter, None, now)
    }

    pub(super) fn wait_for(
        &mut self,
        waiter: u8,
        share: impl Into<Option<Share>>,
        now: u64,
    ) -> Result<Grant, Busy> {
        let notify = self.waiters.entry(waiter).or_default().clone();
        let ask = Ask {
            key: KEY,
            label: &format!("waiter {waiter}").into(),
            share: share.into(),
            terms: FIXED,
            owner: self.ids.get(&waiter).copied(),
            queue_with: Some((&notify, Moment::NEVER)),
        };
        let decision = self.store.acquire(&ask, at(now));
        let outcome = self.note(decision);
        match &outcome {
            Ok(_) => self.ids.remove(&waiter),
            Err(busy) => self.ids.insert(waiter, busy.owner.expect("it queues")),
        };
        outcome
    }

    pub(super) fn end(&mut self, waiter: u8, now: u64) {
        let id = self.ids.remove(&waiter).expect("the waiter waits");
        let decision = self.store.end(LockOwner { key: KEY, id }, at(now));
        self.note(decision);
    }

    pub(super) fn release(&mut self, grant: Grant, now: u64) -> bool {
        let decision = self.store.release(owner(grant), at(now));
        self.note(decision)
    }

    pub(super) fn downgrade(&mut self, grant: Grant, now: u64) -> Option<FencingToken> {
        let decision = self.store.downgrade(owner(grant), at(now));
        self.note(decision)
    }

    /// Renews a lease, and returns its deadline; `Ok(None)` for a lease that never expires.
    pub(super) fn renew(&mut self, grant: Grant, now: u64) -> Result<Option<Moment>, ()> {
        let decision = self.store.renew(owner(grant), at(now));
        let decision = decision.map(|renewal| match renewal {
            RenewOutcome::NotHeld => Err(()),
            RenewOutcome::Unchanged => Ok(None),
            RenewOutcome::Extended { deadline, .. } => Ok(Some(deadline)),
        });
        self.note(decision)
    }
}

fn lease() -> Arc<Lease> {
    let key = LockKey::from(KEY);
    let names = RecordNames::new("", &key).unwrap();
    let request = Request {
        locks: OneOrMore::from(Lock { key, names }),
        mode: Mode::Exclusive,
        terms: RENEWED,
        wait: Duration::ZERO,
        fenced: false,
        label: "a caller".into(),
        labels: CallLabels::new("", ""),
        run: None,
    };
    let schedule = RenewalSchedule::granted(at(0), &request.terms);
    let owner = OwnerIds::default().next();
    let lease = Arc::new(Lease::new(&request, owner, None, Clock::Real, &schedule));
    lease.extend(Moment::NEVER);
    lease
}

pub(super) fn owner(grant: Grant) -> LockOwner<'static> {
    LockOwner {
        key: KEY,
        id: grant.owner,
    }
}

#[test]
fn released_lock_leaves_nothing_behind() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    assert!(scene.release(grant, 1));
    assert_eq!(scene.released, ['a']);
    assert!(scene.expired.is_empty());
    assert!(scene.store.is_empty());
    assert!(!scene.release(grant, 2), "it is released once");
}

#[test]
fn lock_is_revoked_only_by_the_token_of_its_holder() {
    let mut scene = Scene::default();
    let first = scene.hold('a', FIXED, 0);
    assert!(scene.release(first, 1));
    let next = scene.hold('b', FIXED, 2);
    for (seen, is_taken) in [(first.token, false), (next.token, true)] {
        let revocation = scene.store.revoke(KEY, seen, at(3));
        let taken = scene.note(revocation);
        assert_eq!(matches!(taken, Taken::From { .. }), is_taken, "{taken:?}");
    }
}

#[test]
fn handed_over_lock_is_refused_to_all_but_its_waiter() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    scene.wait(1, 1).unwrap_err();
    scene.wait(2, 1).unwrap_err();
    scene.release(grant, 2);
    assert_eq!(
        scene.attempt(FIXED, 2).unwrap_err().holder.describe(),
        "waiter 1"
    );
    assert_eq!(scene.wait(2, 2).unwrap_err().holder.describe(), "waiter 1");
    scene.wait(1, 2).unwrap();
}

#[test]
fn expired_lock_is_handed_to_the_first_waiter_by_any_attempt() {
    let mut scene = Scene::default();
    scene.hold('a', FIXED, 0);
    scene.wait(1, 1).unwrap_err();
    scene.wait(2, 1).unwrap_err();
    scene.attempt(FIXED, TTL).unwrap_err();
    assert_eq!((&*scene.expired, &*scene.wake), (&['a'][..], &[1, 2][..]));
    assert_eq!(scene.wait(1, TTL + 1).unwrap().at, at(TTL));
}

#[test]
fn renewal_moves_the_end_of_a_lease() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    scene.wait(1, 1).unwrap_err();
    let deadline = at(6_000 + TTL - TTL / 100 - 2);
    assert_eq!(scene.renew(grant, 6_000), Ok(Some(deadline)));
    assert_eq!(scene.wake, [1], "the first waiter has to wait longer");
    let busy = scene.wait(1, TTL).unwrap_err();
    assert_eq!(busy.expires_at, at(6_000 + TTL));
    scene.wait(1, 6_000 + TTL - 1).unwrap_err();
    scene.wait(1, 6_000 + TTL).unwrap();
    assert_eq!(scene.expired, ['a']);
}

#[test]
fn renewal_offers_the_watch_of_its_holder() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    let renewal = scene.store.renew(owner(grant), at(1)).answer;
    let RenewOutcome::Extended { watch, .. } = renewal else {
        panic!("{renewal:?}");
    };
    let lease = watch.and_then(|watch| watch.lease()).unwrap();
    assert!(Arc::ptr_eq(&lease, &scene.leases[&'a']));
}

#[test]
fn renewal_does_not_pass_max_hold() {
    let mut scene = Scene::default();
    let max_hold = Some(ms(TTL + 5_000));
    let grant = scene.hold('a', LeaseTerms { max_hold, ..FIXED }, 0);
    scene.renew(grant, 8_000).unwrap();
    scene.attempt(FIXED, TTL + 4_999).unwrap_err();
    scene.attempt(FIXED, TTL + 5_000).unwrap();
}

#[test]
fn confirmed_lease_counts_from_its_grant() {
    let mut scene = Scene::default();
    let first = scene.hold('a', FIXED, 0);
    scene.wait(1, 1).unwrap_err();
    scene.release(first, 1_000);
    let grant = scene.wait(1, 4_000).unwrap();
    assert_eq!(grant.at, at(1_000));
    assert_eq!(grant.deadline, at(1_000 + TTL - TTL / 100 - 2));
    scene.attempt(FIXED, 1_000 + TTL - 1).unwrap_err();
    scene.attempt(FIXED, 1_000 + TTL).unwrap();
}

#[test]
fn waiter_whose_grant_lapsed_queues_at_the_back() {
    let mut scene = Scene::default();
    let first = scene.hold('a', FIXED, 0);
    for waiter in [1, 2, 3] {
        scene.wait(waiter, 1).unwrap_err();
    }
    scene.release(first, 2);
    let grant = scene.wait(2, 2 + TTL).unwrap();
    scene.wait(1, 2 + TTL).unwrap_err();
    assert_eq!(scene.store.queue_len(KEY), 2);
    scene.release(grant, 3 + TTL);
    assert_eq!(scene.wake, [3, 1]);
}

#[test]
fn holder_without_a_lease_never_expires_and_has_no_lease_to_lose() {
    let mut scene = Scene::default();
    let grant = scene.attempt(RENEWED, 0).unwrap();
    let ages = 100 * 365 * 24 * 3_600_000;
    assert!(scene.holders(ages).is_empty());
    assert_eq!(scene.store.watches().count(), 0);
    scene.attempt(FIXED, ages).unwrap_err();
    assert!(scene.release(grant, ages));
    assert!(scene.store.is_empty());
}

#[test]
fn lease_of_an_expired_holder_is_not_found() {
    let mut scene = Scene::default();
    scene.hold('a', FIXED, 0);
    assert_eq!(scene.holders(TTL - 1), ['a']);
    assert!(scene.holders(TTL).is_empty());
    assert_eq!(scene.expired, ['a']);
}

#[test]
fn lease_that_comes_too_late_is_returned() {
    let mut scene = Scene::default();
    let grant = scene.attempt(FIXED, 0).unwrap();
    scene.attempt(FIXED, TTL).unwrap();
    assert!(!scene.register(grant, 'a'));
    assert_eq!(scene.store.watches().count(), 0);
}

#[test]
fn shutdown_finds_every_holder_and_ends_every_waiter() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', RENEWED, 0);
    for waiter in [1, 2] {
        scene.wait(waiter, 1).unwrap_err();
    }
    assert_eq!(scene.store.watches().count(), 1);
    // A holder may release between the ends of the waiters.
    scene.end(2, 2);
    scene.release(grant, 3);
    scene.end(1, 4);
    assert!(scene.store.is_empty());
    assert_eq!(scene.store.watches().count(), 0);
}
