//! Shares beside plain locks, older clients and other programs; and a holder that becomes a reader.

use harness::{Answer, READ};

use super::{
    TTL, assert_consistent, assert_runs_down, assert_waits, expire, holder, inside, listen,
    permits, start,
};

#[test]
fn other_programs_see_a_lock_that_is_held() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    let k = lock.k.clone();
    let taken: Option<String> = lock.command(&["SET", &k, "stranger", "NX", "PX", "1000"]);
    assert_eq!(taken, None);
    lock.release_share('A', READ).unwrap();
    let taken: Option<String> = lock.command(&["SET", &k, "stranger", "NX", "PX", "1000"]);
    assert!(taken.is_some());
    assert_waits(&lock.share('A', READ, TTL).unwrap(), 1);
}

#[test]
fn share_of_a_lock_that_another_program_took_is_gone() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    let k = lock.k.clone();
    let _: () = lock.command(&["SET", &k, "stranger", "PX", "60000"]);
    assert_eq!(lock.renew_share('A', READ, TTL).unwrap(), None);
    assert_eq!(lock.release_share('A', READ).unwrap(), -1);
    assert_eq!(lock.end_share('A', READ).unwrap(), Answer::Code(-1));
    assert_eq!(lock.value().unwrap(), "stranger");
}

#[test]
fn plain_scripts_leave_a_shared_lock_alone() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    assert_waits(&lock.try_acquire('A', TTL).unwrap(), 0);
    assert_eq!(lock.renew('A', 2 * TTL).unwrap(), None);
    assert_eq!(lock.release('A').unwrap(), -1);
    assert_eq!(lock.end('A').unwrap(), Answer::Code(-1));
    assert_eq!(inside(&mut lock), "A");
    assert_consistent(&mut lock);
}

#[test]
fn plain_end_grants_the_lock_to_a_reader_whose_confirmation_begins_a_phase() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BCD");
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.share(who, permits(1, 2), TTL).unwrap();
    }
    lock.share('D', permits(1, 2), TTL).unwrap();
    assert_eq!(lock.end('A').unwrap(), Answer::Code(2));
    assert_eq!(holder(&mut lock), Some('B'));
    let granted: i64 = lock.value().unwrap()[23..39].parse().unwrap();
    let confirmed = lock.share('B', permits(1, 2), TTL).unwrap();
    assert_eq!(confirmed.token(), granted, "the token of the grant");
    assert_eq!((inside(&mut lock), lock.queue()), ("BC".into(), "D".into()));
    assert_runs_down(lock.pttl(), TTL);
    assert_consistent(&mut lock);
    assert_eq!(lock.share('B', permits(1, 2), TTL).unwrap(), confirmed);
}

#[test]
fn plain_acquire_grants_an_expired_lock_to_a_reader() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BC");
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.share(who, READ, TTL).unwrap();
    }
    expire(&mut lock);
    assert_waits(&lock.acquire('P', TTL).unwrap(), 2);
    assert_eq!(holder(&mut lock), Some('B'));
    lock.share('B', READ, TTL).unwrap().token();
    assert_eq!((inside(&mut lock), lock.queue()), ("BC".into(), "P".into()));
    assert_consistent(&mut lock);
}

#[test]
fn plain_end_with_a_successor_lets_the_reader_before_it_in() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BN");
    lock.acquire('A', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    assert_eq!(lock.end_with_next('A', 'N', TTL).unwrap(), Answer::Code(2));
    lock.share('B', READ, TTL).unwrap().token();
    assert_waits(&lock.acquire('N', TTL).unwrap(), 1);
    assert_eq!(lock.end_share('B', READ).unwrap(), Answer::Code(2));
    assert_eq!(holder(&mut lock), Some('N'));
}

#[test]
fn holder_becomes_a_reader_with_a_higher_token() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BCD");
    let held = lock.write('A', TTL).unwrap().token();
    for who in ['B', 'C'] {
        lock.share(who, READ, TTL).unwrap();
    }
    lock.write('D', TTL).unwrap();
    let reads = lock.share('A', READ, TTL).unwrap();
    assert!(reads.token() >= held + 16, "its turns have used tokens");
    assert_eq!(lock.fence().unwrap(), format!("{:016}", reads.token()));
    assert_eq!(
        (inside(&mut lock), lock.queue()),
        ("ABC".into(), "D".into())
    );
    assert_consistent(&mut lock);
    assert_eq!(lock.share('A', READ, TTL).unwrap(), reads, "sent twice");
    assert_consistent(&mut lock);
    // What is late of the lock that it held finds nothing.
    assert_eq!(lock.renew('A', TTL).unwrap(), None);
    assert_eq!(lock.release('A').unwrap(), -1);
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(1));
    assert_eq!(inside(&mut lock), "BC");
}

#[test]
fn holder_that_becomes_a_reader_keeps_nothing_of_an_earlier_phase() {
    let (_server, mut lock) = start();
    lock.share('X', permits(5, 9), 2 * TTL).unwrap();
    expire(&mut lock);
    lock.write('A', TTL).unwrap();
    lock.share('A', READ, TTL).unwrap().token();
    assert_eq!(inside(&mut lock), "A");
    assert_consistent(&mut lock);
}
