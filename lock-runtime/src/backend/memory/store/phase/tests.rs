//! Tests decisions about shares that callers cannot cause at will. `conformance` has cases for the others.

use crate::backend::memory::store::tests::{FIXED, KEY, RENEWED, Scene, TTL, at, ms};
use crate::background::moment::Moment;
use crate::lease::Share;
use crate::lease::record::{Counted, Holder};
use crate::lease::schedule::LeaseTerms;

const READ: Share = Share::READ;

/// Returns a share that takes this many of five permits.
fn permits(take: u32) -> Share {
    Share::permits(5, take).unwrap()
}

/// Counts the holders that a caller finds in its way.
fn counted(scene: &mut Scene, share: Option<Share>, now: u64) -> Counted {
    match scene.attempt_share(share, FIXED, now).unwrap_err().holder {
        Holder::Shared(shared) => shared.counted.unwrap(),
        other => panic!("{other:?} does not share"),
    }
}

#[test]
fn permit_that_leaves_admits_as_many_as_it_took() {
    let mut scene = Scene::default();
    let three = scene.hold_share('a', permits(3), FIXED, 0);
    scene.hold_share('b', permits(2), FIXED, 0);
    for (waiter, take) in [(1, 1), (2, 2), (3, 1)] {
        scene.wait_for(waiter, permits(take), 1).unwrap_err();
    }
    scene.release(three, 2);
    assert_eq!(scene.wake, [1, 2, 3]);
    scene.wait_for(1, permits(1), 2).unwrap();
    scene.wait_for(2, permits(2), 2).unwrap();
    scene.wait_for(3, permits(1), 2).unwrap_err();
}

#[test]
fn waiter_that_ends_with_a_share_gives_it_back() {
    let mut scene = Scene::default();
    let inside = scene.hold_share('a', permits(4), FIXED, 0);
    scene.wait_for(1, permits(3), 1).unwrap_err();
    scene.wait_for(2, permits(3), 1).unwrap_err();
    scene.release(inside, 2);
    assert_eq!(scene.wake, [1, 2]);
    scene.end(1, 3);
    assert_eq!(scene.wake, [2]);
    scene.wait_for(2, permits(3), 4).unwrap();
    assert_eq!(counted(&mut scene, None, 4).taken, 3);
}

#[test]
fn waiter_that_ends_in_a_queue_takes_no_share_away() {
    let mut scene = Scene::default();
    scene.hold_share('a', permits(5), FIXED, 0);
    scene.wait_for(1, permits(1), 1).unwrap_err();
    scene.end(1, 2);
    let seen = counted(&mut scene, None, 3);
    assert_eq!((seen.owners, seen.taken), (1, 5));
    assert_eq!(scene.store.queue_len(KEY), 0);
}

#[test]
fn lapsed_share_admits_waiters_by_any_attempt() {
    let mut scene = Scene::default();
    scene.hold_share('a', permits(2), FIXED, 0);
    scene.hold_share('b', permits(3), FIXED, 1);
    scene.wait_for(1, permits(2), 2).unwrap_err();
    scene
        .attempt_share(Some(permits(1)), FIXED, TTL)
        .unwrap_err();
    assert_eq!((&*scene.expired, &*scene.wake), (&['a'][..], &[1][..]));
    assert_eq!(scene.wait_for(1, permits(2), TTL).unwrap().at, at(TTL));
}

#[test]
fn shares_that_lapse_together_are_all_reported() {
    let mut scene = Scene::default();
    scene.hold_share('a', READ, FIXED, 0);
    scene.hold_share('b', READ, FIXED, 0);
    let last = scene.hold_share('c', READ, FIXED, 1);
    scene.wait(1, 2).unwrap_err();
    scene.wait(1, TTL).unwrap_err();
    assert_eq!(scene.expired, ['a', 'b']);
    assert!(scene.release(last, TTL));
    scene.wait(1, TTL).unwrap();
}

#[test]
fn unconfirmed_share_lapses_after_a_ttl() {
    let mut scene = Scene::default();
    let writer = scene.hold('a', FIXED, 0);
    scene.wait_for(1, permits(5), 1).unwrap_err();
    scene.release(writer, 2);
    scene
        .attempt_share(Some(permits(1)), FIXED, 1 + TTL)
        .unwrap_err();
    scene.hold_share('b', permits(1), FIXED, 2 + TTL);
    scene.wait_for(1, permits(5), 2 + TTL).unwrap_err();
}

#[test]
fn confirmed_share_counts_from_its_grant() {
    let mut scene = Scene::default();
    let writer = scene.hold('a', FIXED, 0);
    scene.wait_for(1, READ, 1).unwrap_err();
    scene.release(writer, 1_000);
    let grant = scene.wait_for(1, READ, 4_000).unwrap();
    assert_eq!(grant.at, at(1_000));
    assert_eq!(grant.deadline, at(1_000 + TTL - TTL / 100 - 2));
    scene.attempt(FIXED, 1_000 + TTL - 1).unwrap_err();
    scene.attempt(FIXED, 1_000 + TTL).unwrap();
}

#[test]
fn share_counts_for_nothing_in_the_next_phase() {
    let mut scene = Scene::default();
    let share = scene.hold_share('a', permits(5), FIXED, 0);
    scene.release(share, 1);
    assert!(scene.store.is_empty());
    assert!(!scene.release(share, 1), "it is released once");
    scene.hold_share('b', permits(5), FIXED, 2);
    assert!(!scene.release(share, 3));
    assert_eq!(counted(&mut scene, None, 3).taken, 5);
}

#[test]
fn first_waiter_is_woken_when_the_last_share_to_lapse_leaves() {
    let mut scene = Scene::default();
    scene.hold_share('a', READ, FIXED, 0);
    let longest = scene.hold_share('b', READ, RENEWED, 1);
    assert_eq!(scene.wait(1, 2).unwrap_err().expires_at, Moment::NEVER);
    scene.release(longest, 3);
    assert_eq!(scene.wake, [1]);
    assert_eq!(scene.wait(1, 3).unwrap_err().expires_at, at(TTL));
}

#[test]
fn renewal_moves_the_end_of_one_share() {
    let mut scene = Scene::default();
    let renewed = scene.hold_share('a', permits(2), FIXED, 0);
    scene.hold_share('b', permits(3), FIXED, 0);
    scene.wait(1, 1).unwrap_err();
    let deadline = at(6_000 + TTL - TTL / 100 - 2);
    assert_eq!(scene.renew(renewed, 6_000), Ok(Some(deadline)));
    assert_eq!(scene.wake, [1]);
    assert_eq!(scene.wait(1, TTL).unwrap_err().expires_at, at(6_000 + TTL));
    assert_eq!(scene.expired, ['b']);
    scene.wait(1, 6_000 + TTL - 1).unwrap_err();
    scene.wait(1, 6_000 + TTL).unwrap();
    assert_eq!(scene.expired, ['a']);
    assert_eq!(scene.renew(renewed, 6_000 + TTL), Err(()));
}

#[test]
fn max_hold_ends_one_share() {
    let mut scene = Scene::default();
    let max_hold = Some(ms(3 * TTL));
    scene.hold_share(
        'a',
        permits(5),
        LeaseTerms {
            max_hold,
            ..RENEWED
        },
        0,
    );
    scene.hold_share('b', READ, RENEWED, 0);
    scene
        .attempt_share(Some(permits(4)), FIXED, 3 * TTL - 1)
        .unwrap_err();
    scene
        .attempt_share(Some(permits(4)), FIXED, 3 * TTL)
        .unwrap();
    assert_eq!(scene.expired, ['a']);
}

#[test]
fn waiter_sees_how_much_is_taken_of_its_own_limit_and_since_when() {
    let mut scene = Scene::default();
    let began = scene.hold_share('a', permits(3), FIXED, 1_000);
    scene.hold_share('b', READ, FIXED, 2_000);
    scene.release(began, 2_500);
    scene.hold_share('c', permits(4), FIXED, 2_600);
    let six = Share::permits(6, 2).unwrap();
    let seen = counted(&mut scene, Some(six), 4_000);
    let expected = Counted {
        owners: 2,
        taken: 5,
        limit: Some(6),
        since: ms(3_000),
    };
    assert_eq!(seen, expected);
    assert_eq!(counted(&mut scene, None, 4_000).limit, None);
}

#[test]
fn waiting_shares_are_not_holders() {
    let mut scene = Scene::default();
    scene.hold_share('a', permits(5), FIXED, 0);
    scene.wait_for(1, permits(1), 1).unwrap_err();
    assert_eq!(counted(&mut scene, Some(permits(1)), 2).owners, 1);
}

#[test]
fn lease_of_every_holder_is_found_until_its_share_lapses() {
    let mut scene = Scene::default();
    let share = scene.hold_share('a', READ, FIXED, 0);
    scene.hold_share('b', READ, FIXED, 1);
    assert_eq!(scene.holders(2), ['a', 'b']);
    assert_eq!(scene.holders(TTL), ['b']);
    assert!(!scene.register(share, 'a'));
}

#[test]
fn downgraded_writer_reads_in_a_new_phase() {
    let mut scene = Scene::default();
    let writer = scene.hold('a', FIXED, 0);
    let token = scene.downgrade(writer, 1_000).unwrap();
    assert!(token > writer.token);
    assert_eq!(scene.released, ['a'], "its lease is the old one");
    assert!(scene.register(writer, 'b'));
    assert_eq!(scene.hold_share('c', READ, FIXED, 1_001).token, token);
    let seen = counted(&mut scene, None, 3_000);
    assert_eq!((seen.owners, seen.since), (2, ms(2_000)));
    assert!(scene.release(writer, 4_000));
    assert_eq!(scene.released, ['b']);
}

#[test]
fn downgrade_admits_the_readers_at_the_head() {
    let mut scene = Scene::default();
    let writer = scene.hold('a', FIXED, 0);
    for (waiter, share) in [(1, Some(READ)), (2, Some(READ)), (3, None), (4, Some(READ))] {
        scene.wait_for(waiter, share, 1).unwrap_err();
    }
    scene.downgrade(writer, 2).unwrap();
    assert_eq!(scene.wake, [1, 2, 3]);
    scene.wait_for(1, READ, 3).unwrap();
    scene.wait_for(4, READ, 3).unwrap_err();
}

#[test]
fn downgrade_leaves_the_end_of_the_lease_as_it_was() {
    let mut scene = Scene::default();
    let writer = scene.hold('a', FIXED, 0);
    scene.downgrade(writer, 6_000).unwrap();
    scene.attempt(FIXED, TTL - 1).unwrap_err();
    scene.attempt(FIXED, TTL).unwrap();
    assert_eq!(scene.downgrade(writer, TTL), None, "it is another caller's");
}

#[test]
fn share_that_is_downgraded_stays_as_it_is() {
    let mut scene = Scene::default();
    let permit = scene.hold_share('a', permits(3), FIXED, 0);
    scene.hold_share('b', permits(2), FIXED, 0);
    assert_eq!(scene.downgrade(permit, 1), Some(permit.token));
    assert_eq!(counted(&mut scene, None, 2).taken, 5);
    scene.attempt_share(Some(permits(1)), FIXED, 2).unwrap_err();
}
