//! Every decision of the store, with milliseconds for the time, a letter for the handle of a holder and a
//! number for that of a waiter.

use std::time::Duration;

use super::*;
use crate::lease::schedule::LeaseTerms;

pub(super) const KEY: &str = "order:42";
pub(super) const TTL: u64 = 10_000;

impl<H, W> Store<H, W> {
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

/// A lease that ends a ttl after its grant or its last renewal.
pub(super) const FIXED: LeaseTerms = LeaseTerms {
    ttl: Duration::from_millis(TTL),
    renew: false,
    max_hold: None,
    retain: Duration::ZERO,
    hold_at_least_ms: 0,
};

pub(super) const RENEWED: LeaseTerms = LeaseTerms {
    renew: true,
    ..FIXED
};

/// A store, the effects of its last decision, and the waiters by their handles.
#[derive(Default)]
pub(super) struct Scene {
    pub(super) store: Store<char, u8>,
    ids: HashMap<u8, OwnerId>,
    pub(super) expired: Vec<char>,
    pub(super) released: Vec<char>,
    pub(super) wake: Vec<u8>,
}

impl Scene {
    pub(super) fn note<T>(&mut self, decision: Decision<T, char, u8>) -> T {
        self.expired = decision.effects.expired.into_vec();
        self.released = decision.effects.released.into_vec();
        self.wake = decision.effects.wake.into_vec();
        decision.answer
    }

    /// One attempt without a place in the queue.
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

    /// Acquires a free lock, and registers a handle.
    pub(super) fn hold(&mut self, handle: char, terms: LeaseTerms, now: u64) -> Grant {
        self.hold_share(handle, None, terms, now)
    }

    pub(super) fn hold_share(
        &mut self,
        handle: char,
        share: impl Into<Option<Share>>,
        terms: LeaseTerms,
        now: u64,
    ) -> Grant {
        let grant = self.attempt_share(share.into(), terms, now);
        let grant = grant.expect("there is room");
        assert_eq!(self.store.register(owner(grant), handle), None);
        grant
    }

    /// The first attempt of a waiter, or its next one.
    pub(super) fn wait(&mut self, waiter: u8, now: u64) -> Result<Grant, Busy> {
        self.wait_for(waiter, None, now)
    }

    pub(super) fn wait_for(
        &mut self,
        waiter: u8,
        share: impl Into<Option<Share>>,
        now: u64,
    ) -> Result<Grant, Busy> {
        let ask = Ask {
            key: KEY,
            label: &format!("waiter {waiter}").into(),
            share: share.into(),
            terms: FIXED,
            owner: self.ids.get(&waiter).copied(),
            queue_with: Some(&waiter),
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
        let id = self.ids.remove(&waiter).expect("it waits");
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

    /// The deadline that a renewal brings; `Ok(None)` for a lease that is renewed anyway.
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

pub(super) fn owner(grant: Grant) -> LockOwner<'static> {
    LockOwner {
        key: KEY,
        id: grant.owner,
    }
}

#[test]
fn held_lock_is_busy_and_names_its_holder() {
    let mut scene = Scene::default();
    scene.hold('a', FIXED, 0);
    let busy = scene.attempt(FIXED, 1).unwrap_err();
    assert_eq!(busy.holder.describe(), "a caller");
    assert_eq!(busy.expires_at, at(TTL));
    assert_eq!(busy.owner, None, "an attempt without a handle queues");
    assert_eq!(scene.store.queue_len(KEY), 0);
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
fn waiters_are_granted_the_lock_in_the_order_of_their_first_attempts() {
    let mut scene = Scene::default();
    let mut grant = scene.hold('a', FIXED, 0);
    for waiter in [3, 1, 2] {
        scene.wait(waiter, 1).unwrap_err();
    }
    // A further attempt changes no place.
    scene.wait(3, 2).unwrap_err();
    assert_eq!(scene.store.queue_len(KEY), 3);
    for (waiter, woken) in [(3, vec![3, 1]), (1, vec![1, 2]), (2, vec![2])] {
        assert!(scene.release(grant, 3));
        assert_eq!(
            scene.wake, woken,
            "the next holder, and the first behind it"
        );
        grant = scene.wait(waiter, 3).unwrap();
    }
    assert!(scene.release(grant, 4));
    assert!(scene.store.is_empty());
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
fn lease_ends_at_its_ttl_and_not_before() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    assert_eq!(grant.deadline, at(TTL - TTL / 100 - 2));
    scene.attempt(FIXED, TTL - 1).unwrap_err();
    assert!(scene.expired.is_empty());
    scene.attempt(FIXED, TTL).unwrap();
    assert_eq!(scene.expired, ['a']);
    assert!(!scene.release(grant, TTL), "the lock is another caller's");
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
fn lease_that_expired_is_not_released_for_the_next_holder() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    scene.wait(1, 1).unwrap_err();
    assert!(!scene.release(grant, TTL));
    assert_eq!((&*scene.expired, &*scene.wake), (&['a'][..], &[1][..]));
    assert!(scene.released.is_empty());
    scene.wait(1, TTL).unwrap();
}

#[test]
fn lease_that_expired_is_not_renewed() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    assert_eq!(scene.renew(grant, TTL), Err(()));
    assert_eq!(scene.expired, ['a']);
    assert!(scene.store.is_empty());
}

#[test]
fn renewed_lease_ends_by_max_hold_alone() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', RENEWED, 0);
    assert_eq!(grant.deadline, Moment::NEVER);
    let days = 3 * 24 * 3_600_000;
    let busy = scene.attempt(FIXED, days).unwrap_err();
    assert_eq!(busy.expires_at, Moment::NEVER);
    assert_eq!(scene.renew(grant, days), Ok(None));
    assert!(scene.release(grant, days));

    let max_hold = Some(ms(3 * TTL));
    let grant = scene.hold(
        'b',
        LeaseTerms {
            max_hold,
            ..RENEWED
        },
        0,
    );
    assert_eq!(grant.deadline, at(3 * TTL - TTL / 100 - 2));
    assert_eq!(scene.renew(grant, TTL), Ok(None));
    scene.attempt(FIXED, 3 * TTL - 1).unwrap_err();
    scene.attempt(FIXED, 3 * TTL).unwrap();
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
fn renewal_offers_the_handle_of_its_holder() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    let renewal = scene.store.renew(owner(grant), at(1)).answer;
    assert!(
        matches!(
            renewal,
            RenewOutcome::Extended {
                handle: Some(&mut 'a'),
                ..
            }
        ),
        "{renewal:?}"
    );
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
fn waiter_that_ends_leaves_its_place_to_the_next() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    for waiter in [1, 2, 3] {
        scene.wait(waiter, 1).unwrap_err();
    }
    scene.end(2, 2);
    scene.end(1, 3);
    assert_eq!(scene.wake, [3], "it is the first now");
    assert_eq!(scene.store.queue_len(KEY), 1);
    scene.release(grant, 4);
    scene.wait(3, 4).unwrap();
}

#[test]
fn waiter_that_ends_with_a_grant_hands_it_over() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    scene.wait(1, 1).unwrap_err();
    scene.wait(2, 1).unwrap_err();
    scene.release(grant, 2);
    scene.end(1, 3);
    assert_eq!(scene.wake, [2]);
    assert_eq!(scene.wait(2, 4).unwrap().at, at(3));
}

#[test]
fn last_waiter_that_ends_with_a_grant_frees_the_lock() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    scene.wait(1, 1).unwrap_err();
    scene.release(grant, 2);
    scene.end(1, 3);
    assert!(scene.store.is_empty());
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
fn unconfirmed_grant_lapses_after_a_ttl_even_if_the_lease_would_be_renewed() {
    let mut scene = Scene::default();
    let first = scene.hold('a', FIXED, 0);
    let ask = Ask {
        key: KEY,
        label: &"a waiter".into(),
        share: None,
        terms: RENEWED,
        owner: None,
        queue_with: Some(&1),
    };
    let busy = scene.store.acquire(&ask, at(1)).answer.unwrap_err();
    scene.release(first, 2);
    assert_eq!(scene.attempt(FIXED, 3).unwrap_err().expires_at, at(2 + TTL));
    let ask = Ask {
        owner: busy.owner,
        ..ask
    };
    scene.store.acquire(&ask, at(4)).answer.unwrap();
    let busy = scene.attempt(FIXED, 5).unwrap_err();
    assert_eq!(busy.expires_at, Moment::NEVER, "it is confirmed");
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
fn waiter_whose_grant_lapsed_is_granted_a_free_lock() {
    let mut scene = Scene::default();
    let first = scene.hold('a', FIXED, 0);
    scene.wait(1, 1).unwrap_err();
    scene.release(first, 2);
    let grant = scene.wait(1, 2 + TTL).unwrap();
    assert_eq!(grant.at, at(2 + TTL), "this is another grant");
    assert!(scene.release(grant, 3 + TTL));
}

#[test]
fn tokens_rise_with_every_grant() {
    let mut scene = Scene::default();
    let mut tokens = Vec::new();
    let released = scene.hold('a', FIXED, 0);
    tokens.push(released.token);
    scene.release(released, 1);
    let holder = scene.hold('b', FIXED, 2);
    tokens.push(holder.token);
    scene.wait(1, 3).unwrap_err();
    scene.wait(2, 3).unwrap_err();
    scene.release(holder, 4);
    tokens.push(scene.wait(1, 5).unwrap().token);
    tokens.push(scene.wait(2, 4 + TTL).unwrap().token);
    let steps = tokens.windows(2).map(|pair| pair[1].get() - pair[0].get());
    let step = u64::from(FencingToken::STEP);
    assert!(steps.into_iter().all(|rise| rise >= step), "{tokens:?}");
}

#[test]
fn holder_without_a_handle_never_expires_and_has_no_lease_to_lose() {
    let mut scene = Scene::default();
    let grant = scene.attempt(RENEWED, 0).unwrap();
    let ages = 100 * 365 * 24 * 3_600_000;
    let decision = scene
        .store
        .handles_of(KEY, at(ages))
        .map(|handles| handles.count());
    assert_eq!(scene.note(decision), 0);
    assert_eq!(scene.store.handles().count(), 0);
    scene.attempt(FIXED, ages).unwrap_err();
    assert!(scene.release(grant, ages));
    assert!(scene.store.is_empty());
}

#[test]
fn handle_of_an_expired_holder_is_not_found() {
    let mut scene = Scene::default();
    scene.hold('a', FIXED, 0);
    let decision = scene
        .store
        .handles_of(KEY, at(TTL - 1))
        .map(|handles| handles.copied().collect::<Vec<_>>());
    assert_eq!(scene.note(decision), ['a']);
    let decision = scene
        .store
        .handles_of(KEY, at(TTL))
        .map(|handles| handles.copied().collect::<Vec<_>>());
    assert!(scene.note(decision).is_empty());
    assert_eq!(scene.expired, ['a']);
}

#[test]
fn handle_that_comes_too_late_is_returned() {
    let mut scene = Scene::default();
    let grant = scene.attempt(FIXED, 0).unwrap();
    scene.attempt(FIXED, TTL).unwrap();
    assert_eq!(scene.store.register(owner(grant), 'a'), Some('a'));
    assert_eq!(scene.store.handles().count(), 0);
}

#[test]
fn shutdown_finds_every_holder_and_ends_every_waiter() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', RENEWED, 0);
    for waiter in [1, 2] {
        scene.wait(waiter, 1).unwrap_err();
    }
    assert_eq!(scene.store.handles().collect::<Vec<_>>(), [&'a']);
    // A holder may release while the waiters end.
    scene.end(2, 2);
    scene.release(grant, 3);
    scene.end(1, 4);
    assert!(scene.store.is_empty());
    assert_eq!(scene.store.handles().count(), 0);
}

#[test]
fn locks_of_different_keys_are_independent() {
    let mut scene = Scene::default();
    let grant = scene.hold('a', FIXED, 0);
    let other = Ask {
        key: "order:43",
        label: &"a caller".into(),
        share: None,
        terms: FIXED,
        owner: None,
        queue_with: None,
    };
    let other = scene.store.acquire(&other, at(0)).answer.unwrap();
    assert!(
        !scene.release(other, 1),
        "its owner is not the one of this key"
    );
    assert!(scene.release(grant, 1));
}
