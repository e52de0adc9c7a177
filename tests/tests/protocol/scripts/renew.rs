//! `renew`.

use harness::Listener;

use super::{TTL, assert_runs_down, expire, holder, snapshot, start};

#[test]
fn a_renewal_lengthens_the_lease_and_answers_flag_and_token() {
    let (_server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    assert_eq!(
        lock.renew('A', 2 * TTL).unwrap(),
        Some(format!(" {token:016}"))
    );
    assert_runs_down(lock.pttl(), 2 * TTL);
    lock.acquire('B', TTL).unwrap();
    assert_eq!(
        lock.renew('A', 2 * TTL).unwrap(),
        Some(format!("+{token:016}"))
    );
}

#[test]
fn a_renewal_never_shortens_the_lease() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    assert!(lock.renew('A', 1).unwrap().is_some());
    assert_runs_down(lock.pttl(), TTL);
}

#[test]
fn a_renewal_restores_an_expiry_that_was_removed() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let k = lock.k.clone();
    let _: i64 = lock.command(&["PERSIST", &k]);
    assert!(lock.renew('A', TTL).unwrap().is_some());
    assert_runs_down(lock.pttl(), TTL);
}

#[test]
fn a_renewal_never_makes_a_lost_lock_again() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    expire(&mut lock);
    let before = snapshot(&mut lock);
    assert_eq!(lock.renew('A', TTL).unwrap(), None);
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn a_renewal_leaves_another_owners_lock_alone() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    assert_eq!(lock.renew('B', 2 * TTL).unwrap(), None);
    assert_runs_down(lock.pttl(), TTL);
    assert_eq!(holder(&mut lock), Some('A'));
}

#[test]
fn a_renewal_confirms_a_grant() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    lock.end('A').unwrap();
    let token = lock.fence().unwrap();
    assert_eq!(lock.renew('B', TTL).unwrap(), Some(format!(" {token}")));
    assert_runs_down(lock.pttl(), TTL);
}
