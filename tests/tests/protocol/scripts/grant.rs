//! The waiter that gets a free lock: `acquire` while other owners queue.

use harness::{Answer, Listener, owner};

use super::{CLAIM, TTL, assert_runs_down, expire, holder, position, start};

#[test]
fn the_head_that_polls_takes_the_lock() {
    let (_server, mut lock) = start();
    let first = lock.acquire('A', TTL).unwrap().token();
    lock.acquire('B', TTL).unwrap();
    expire(&mut lock);
    let answer = lock.acquire('B', TTL).unwrap();
    assert!(answer.token() >= first + 16);
    assert!(matches!(answer, Answer::Held { flag: ' ', .. }));
    assert_runs_down(lock.pttl(), TTL);
    assert_eq!(lock.queue_members(), []);
}

#[test]
fn the_head_that_polls_needs_neither_a_push_nor_a_heartbeat() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _c = Listener::new(&server, 'C');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    lock.stop_heart('B');
    expire(&mut lock);
    lock.acquire('B', TTL).unwrap().token();
    assert_eq!(lock.queue(), "C");
}

#[test]
fn a_live_head_is_served_before_a_newcomer() {
    let (server, mut lock) = start();
    let first = lock.acquire('A', TTL).unwrap().token();
    let mut b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    expire(&mut lock);

    let Answer::Waiting {
        remaining,
        position,
        value,
        ..
    } = lock.acquire('C', TTL).unwrap()
    else {
        panic!("B comes first");
    };
    assert_runs_down(remaining, CLAIM);
    assert_eq!(position, 1);
    assert_eq!(&value[..22], owner('B'));
    assert_eq!(b.next_push(), owner('B') + &lock.k);

    // The claim: B's own value with a new token; C queues now, so the flag is set.
    let token: i64 = value[23..39].parse().unwrap();
    assert!(token >= first + 16);
    assert_eq!(
        lock.value().unwrap(),
        format!("{}+{token:016} host-B", owner('B'))
    );
    assert_eq!(lock.fence().unwrap(), format!("{token:016}"));
    assert_eq!(lock.queue(), "C");

    // Confirmed by either script, it lives its ttl.
    let confirmed = lock.acquire('B', TTL).unwrap();
    assert_eq!(
        confirmed,
        Answer::Held {
            flag: '+',
            token: format!("{token:016}")
        }
    );
    assert_runs_down(lock.pttl(), TTL);
}

#[test]
fn a_confirmed_claim_lasts_no_longer_than_the_ttl() {
    const SHORT: i64 = CLAIM / 3;
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', SHORT).unwrap();
    lock.end('A').unwrap();
    assert_eq!(holder(&mut lock), Some('B'));
    assert!(lock.pttl() > SHORT, "it is claimed");
    lock.acquire('B', SHORT).unwrap().token();
    let left = lock.pttl();
    assert!(left <= SHORT, "{left} ms");
}

/// For example a monitor: PUBLISH counts it as a receiver, and it cannot take a lock.
#[test]
fn a_pattern_subscriber_is_not_taken_for_a_silent_waiter() {
    let (server, mut lock) = start();
    let _pattern = Listener::to_pattern(&server, "*");
    lock.acquire('A', TTL).unwrap();
    let _c = Listener::new(&server, 'C');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    // Its last poll was two seconds ago, and it counts as alive for four more.
    let later = -(lock.now() + 4_000_000);
    let q = lock.q.clone();
    lock.command::<i64>(&["ZADD", &q, "XX", &later.to_string(), &owner('B')]);
    assert_eq!(lock.end('A').unwrap(), Answer::Code(2));
    assert_eq!(holder(&mut lock), Some('C'), "B does not listen");
    assert_eq!(lock.queue(), "B", "nor is that a proof of its death");
}

/// If the user may not query subscriptions, a waiter that PUBLISH counts is granted the lock.
#[test]
fn without_the_right_to_ask_a_silent_waiter_is_served() {
    let (server, mut lock) = start();
    let _pattern = Listener::to_pattern(&server, "*");
    for who in ['A', 'B'] {
        lock.acquire(who, TTL).unwrap();
    }
    let later = -(lock.now() + 4_000_000);
    let q = lock.q.clone();
    lock.command::<i64>(&["ZADD", &q, "XX", &later.to_string(), &owner('B')]);
    lock.command::<String>(&["ACL", "SETUSER", "harness", "-pubsub"]);
    assert_eq!(lock.end('A').unwrap(), Answer::Code(2));
    assert_eq!(holder(&mut lock), Some('B'));
}

#[test]
fn a_try_serves_the_head_and_writes_nothing_for_itself() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let mut b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    expire(&mut lock);
    assert_eq!(position(&lock.try_acquire('C', TTL).unwrap()), 0);
    assert_eq!(b.next_push(), owner('B') + &lock.k);
    assert_eq!(lock.value().unwrap().as_bytes()[22], b' ');
    assert_eq!(lock.queue_members(), []);
}

#[test]
fn the_flag_says_whether_waiters_remain() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    expire(&mut lock);
    lock.try_acquire('X', TTL).unwrap();
    assert_eq!(holder(&mut lock), Some('B'));
    assert_eq!(lock.value().unwrap().as_bytes()[22], b'+');
    assert_eq!(lock.queue(), "C");
}

#[test]
fn a_dead_waiter_is_dropped() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    let mut c = Listener::new(&server, 'C');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    lock.stop_heart('B');
    expire(&mut lock);
    lock.try_acquire('X', TTL).unwrap();
    // Not B, although it listens: the heartbeat counts.
    assert_eq!(holder(&mut lock), Some('C'));
    assert_eq!(c.next_push(), owner('C') + &lock.k);
    assert_eq!(lock.value().unwrap().as_bytes()[22], b' ');
    assert_eq!(lock.queue_members(), []);
}

#[test]
fn an_entry_without_a_twin_is_dropped() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    let q = lock.q.clone();
    let _: i64 = lock.command(&["ZREM", &q, &owner('B')]);
    expire(&mut lock);
    lock.acquire('C', TTL).unwrap().token();
    assert_eq!(lock.queue_members(), []);
}

#[test]
fn a_waiter_without_a_receiver_is_skipped_and_kept() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let mut c = Listener::new(&server, 'C');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    expire(&mut lock);
    lock.try_acquire('X', TTL).unwrap();
    assert_eq!(holder(&mut lock), Some('C'));
    assert_eq!(c.next_push(), owner('C') + &lock.k);
    assert_eq!(lock.queue(), "B");
    assert_eq!(lock.value().unwrap().as_bytes()[22], b'+');
}

#[test]
fn unreachable_waiters_leave_the_lock_to_a_newcomer() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    lock.acquire('B', TTL).unwrap();
    expire(&mut lock);
    let answer = lock.acquire('C', TTL).unwrap();
    assert!(
        matches!(answer, Answer::Held { flag: '+', .. }),
        "{answer:?}"
    );
    assert_eq!(lock.queue(), "B");
}

#[test]
fn a_poll_behind_an_unreachable_head_takes_the_lock_and_leaves_the_queue() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    expire(&mut lock);
    lock.acquire('C', TTL).unwrap().token();
    assert_eq!(lock.queue(), "B");
    assert_eq!(lock.queue_members().len(), 2);
}

#[test]
fn a_waiter_beyond_the_walk_leaves_the_queue_with_the_lock() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let q = lock.q.clone();
    let far = lock.now();
    let dead = (1..=200).flat_map(|n| [(far + n).to_string(), format!("waiter {n}")]);
    redis::cmd("ZADD")
        .arg(&q)
        .arg(dead.collect::<Vec<_>>())
        .exec(&mut lock.connection)
        .unwrap();
    assert_eq!(position(&lock.acquire('B', TTL).unwrap()), 201);
    expire(&mut lock);
    lock.acquire('B', TTL).unwrap().token();
    let members = lock.queue_members();
    assert_eq!(members.len(), 200 - 128);
    assert!(
        members
            .iter()
            .all(|(member, _)| member.starts_with("waiter"))
    );
}

#[test]
fn a_refused_publish_skips_the_waiter() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    expire(&mut lock);
    let user: String = lock.command(&["ACL", "WHOAMI"]);
    let _: () = lock.command(&["ACL", "SETUSER", &user, "resetchannels"]);
    lock.acquire('C', TTL).unwrap().token();
    assert_eq!(lock.queue(), "B");
}

#[test]
fn a_missed_claim_goes_to_the_tail() {
    let (server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let _b = Listener::new(&server, 'B');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    expire(&mut lock);
    lock.try_acquire('X', TTL).unwrap();
    assert_eq!(holder(&mut lock), Some('B'));
    // B's claim expires, C polls and takes the lock, and B comes late.
    expire(&mut lock);
    lock.acquire('C', TTL).unwrap().token();
    lock.acquire('D', TTL).unwrap();
    assert_eq!(position(&lock.acquire('B', TTL).unwrap()), 2);
    assert_eq!(lock.queue(), "DB");
}
