//! `share_renew`.

use std::time::Duration;

use harness::{Listener, READ};

use super::{CLAIM, TTL, assert_consistent, assert_runs_down, holder, permits, snapshot, start};

#[test]
fn renewal_raises_the_share_and_the_lock_and_answers_flag_and_token() {
    let (_server, mut lock) = start();
    let token = lock.share('A', READ, TTL).unwrap().token();
    lock.share('B', permits(2, 9), TTL).unwrap();
    let renewed = lock.renew_share('B', permits(2, 9), 2 * TTL).unwrap();
    assert_eq!(renewed, Some(format!(" {token:016}")));
    assert_runs_down(lock.pttl(), 2 * TTL);
    assert_consistent(&mut lock);
    lock.acquire('W', TTL).unwrap();
    let renewed = lock.renew_share('A', READ, TTL).unwrap();
    assert_eq!(renewed, Some(format!("+{token:016}")));
    assert_consistent(&mut lock);
}

#[test]
fn renewal_never_shortens_a_share() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    lock.share('B', READ, 2 * TTL).unwrap();
    let shares = lock.shares();
    for who in ['A', 'B'] {
        assert!(lock.renew_share(who, READ, 1).unwrap().is_some());
    }
    assert_eq!(lock.shares(), shares);
    assert_consistent(&mut lock);
}

#[test]
fn renewal_restores_an_expiry_that_was_removed() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    let k = lock.k.clone();
    let _: i64 = lock.command(&["PERSIST", &k]);
    assert!(lock.renew_share('A', READ, TTL).unwrap().is_some());
    assert_consistent(&mut lock);
}

#[test]
fn share_that_is_not_there_is_not_renewed() {
    let (_server, mut lock) = start();
    assert_eq!(lock.renew_share('A', READ, TTL).unwrap(), None);
    lock.share('A', permits(2, 3), TTL).unwrap();
    let before = snapshot(&mut lock);
    for (who, share) in [('B', READ), ('A', READ), ('A', permits(3, 3))] {
        assert_eq!(lock.renew_share(who, share, 2 * TTL).unwrap(), None);
    }
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn share_that_has_lapsed_is_not_renewed() {
    let (server, mut lock) = start();
    lock.share('A', READ, 10_000).unwrap();
    lock.share('B', READ, 60_000).unwrap();
    server.forward(Duration::from_millis(10_001));
    let before = lock.shares();
    assert_eq!(lock.renew_share('A', READ, TTL).unwrap(), None);
    assert_eq!(lock.shares(), before);
    assert!(lock.renew_share('B', READ, TTL).unwrap().is_some());
}

#[test]
fn renewal_leaves_a_lock_that_another_owner_holds_alone() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    assert_eq!(lock.renew_share('B', READ, 2 * TTL).unwrap(), None);
    assert_runs_down(lock.pttl(), TTL);
}

#[test]
fn renewal_keeps_a_grant_that_is_not_confirmed() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.share('B', permits(2, 3), TTL).unwrap();
    lock.end('A').unwrap();
    assert_eq!(holder(&mut lock), Some('B'));
    let token = lock.fence().unwrap();
    assert!(lock.pttl() <= CLAIM);
    let renewed = lock.renew_share('B', permits(2, 3), TTL).unwrap();
    assert_eq!(renewed, Some(format!(" {token}")));
    assert_runs_down(lock.pttl(), TTL);
    lock.renew_share('B', permits(2, 3), 1).unwrap();
    assert_runs_down(lock.pttl(), TTL);
}
