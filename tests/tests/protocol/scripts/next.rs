//! `end` with a successor of the same process.

use harness::{Answer, Listener, entry, owner};

use super::{CLAIM, TTL, assert_runs_down, expire, holder, position, snapshot, start};

#[test]
fn without_waiters_next_holds_the_lock_with_its_full_ttl() {
    let (_server, mut lock) = start();
    let first = lock.acquire('A', TTL).unwrap().token();
    let answer = lock.end_with_next('A', 'N', 2 * TTL).unwrap();
    let token = answer.token();
    assert!(token >= first + 16);
    assert_eq!(
        answer,
        Answer::Held {
            flag: ' ',
            token: format!("{token:016}")
        }
    );
    assert_eq!(
        lock.value().unwrap(),
        format!("{} {token:016} host-N", owner('N'))
    );
    assert_eq!(lock.fence().unwrap(), format!("{token:016}"));
    assert_runs_down(lock.pttl(), 2 * TTL);

    // Sent twice, it returns the same answer.
    assert_eq!(lock.end_with_next('A', 'N', 2 * TTL).unwrap(), answer);
}

#[test]
fn the_unreachable_alone_do_not_keep_next_from_the_lock() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    lock.stop_heart('B');
    let answer = lock.end_with_next('A', 'N', TTL).unwrap();
    assert!(
        matches!(answer, Answer::Held { flag: '+', .. }),
        "{answer:?}"
    );
    assert_eq!(lock.queue(), "C");
}

#[test]
fn with_waiters_next_goes_to_the_tail() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let mut b = Listener::new(&server, 'B');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    let now = lock.now();
    assert_eq!(lock.end_with_next('A', 'N', TTL).unwrap(), Answer::Code(2));
    assert_eq!(b.next_push(), owner('B') + &lock.k);
    assert_eq!(holder(&mut lock), Some('B'));
    assert_runs_down(lock.pttl(), CLAIM);
    assert_eq!(lock.queue(), "CN");
    // With a heartbeat, as if the successor had queued by itself.
    let members = lock.queue_members();
    let (_, live_until) = members
        .iter()
        .find(|(member, _)| *member == owner('N'))
        .unwrap();
    assert!(-live_until >= now + 6_000_000);
    assert_eq!(position(&lock.acquire('N', TTL).unwrap()), 2);
    // Sent twice, it changes nothing.
    let before = snapshot(&mut lock);
    assert_eq!(lock.end_with_next('A', 'N', TTL).unwrap(), Answer::Code(-1));
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn next_at_the_tail_is_seen_in_the_flag() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    assert_eq!(lock.end_with_next('A', 'N', TTL).unwrap(), Answer::Code(2));
    assert_eq!(lock.value().unwrap().as_bytes()[22], b'+');
    assert_eq!(lock.queue(), "N");
}

#[test]
fn next_that_queues_already_takes_its_own_turn() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    for who in ['N', 'B'] {
        lock.acquire(who, TTL).unwrap();
    }
    lock.end_with_next('A', 'N', TTL).unwrap().token();
    assert_eq!(holder(&mut lock), Some('N'));
    assert_runs_down(lock.pttl(), TTL);
    assert_eq!(lock.queue(), "B");
    assert_eq!(lock.queue_members().len(), 2);
}

#[test]
fn next_that_queues_beyond_the_walk_leaves_the_queue_with_the_lock() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let q = lock.q.clone();
    let now = lock.now();
    let dead = (1..=200).flat_map(|n| [(now + n).to_string(), format!("waiter {n}")]);
    redis::cmd("ZADD")
        .arg(&q)
        .arg(dead.collect::<Vec<_>>())
        .exec(&mut lock.connection)
        .unwrap();
    assert_eq!(position(&lock.acquire('N', TTL).unwrap()), 201);
    lock.end_with_next('A', 'N', TTL).unwrap().token();
    let members = lock.queue_members();
    assert_eq!(members.len(), 200 - 128, "{members:?}");
}

#[test]
fn a_lost_lock_gives_next_nothing() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    expire(&mut lock);
    assert_eq!(lock.end_with_next('A', 'N', TTL).unwrap(), Answer::Code(0));
    assert_eq!(lock.value(), None);
    lock.acquire('B', TTL).unwrap();
    let before = snapshot(&mut lock);
    assert_eq!(lock.end_with_next('A', 'N', TTL).unwrap(), Answer::Code(-1));
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn a_waiter_that_gives_up_gives_next_nothing() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    assert_eq!(lock.end_with_next('B', 'N', TTL).unwrap(), Answer::Code(3));
    let members: Vec<_> = lock.queue_members();
    assert!(
        members.iter().all(|(member, _)| *member != entry('N')),
        "{members:?}"
    );
}
