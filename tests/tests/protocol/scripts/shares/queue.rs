//! The order in which shares and locks go in: no waiter is overtaken.

use harness::{Answer, Listener, READ, owner};

use super::{
    CLAIM, TTL, assert_consistent, assert_runs_down, assert_waits, expire, holder, inside, listen,
    permits, start,
};

#[test]
fn writer_that_waits_keeps_later_readers_out() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    assert_waits(&lock.write('W', TTL).unwrap(), 1);
    assert_waits(&lock.try_share('B', READ, TTL).unwrap(), 0);
    assert_waits(&lock.share('B', READ, TTL).unwrap(), 2);
    assert_waits(&lock.share('B', READ, TTL).unwrap(), 2);
    assert_eq!(inside(&mut lock), "A");
    assert_consistent(&mut lock);
}

#[test]
fn writer_goes_in_after_those_that_were_inside_and_before_those_that_came_later() {
    let (server, mut lock) = start();
    let mut w = Listener::new(&server, 'W');
    let _b = Listener::new(&server, 'B');
    let shared = lock.share('A', READ, TTL).unwrap().token();
    lock.share('C', READ, TTL).unwrap();
    lock.write('W', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    assert_eq!(lock.end_share('A', READ).unwrap(), Answer::Code(1));
    assert_eq!(lock.end_share('C', READ).unwrap(), Answer::Code(2));
    assert_eq!(w.next_push(), owner('W') + &lock.k);
    assert_runs_down(lock.pttl(), CLAIM);
    let answer = lock.write('W', TTL).unwrap();
    assert!(answer.token() >= shared + 16);
    assert!(matches!(answer, Answer::Held { flag: '+', .. }));
    assert_eq!(lock.end_write('W').unwrap(), Answer::Code(2));
    assert_eq!(inside(&mut lock), "B");
    assert_consistent(&mut lock);
}

#[test]
fn small_share_does_not_overtake_a_large_one() {
    let (_server, mut lock) = start();
    lock.share('A', permits(2, 4), TTL).unwrap();
    assert_waits(&lock.share('B', permits(3, 4), TTL).unwrap(), 1);
    assert_waits(&lock.share('C', permits(1, 4), TTL).unwrap(), 2);
    assert_waits(&lock.share('D', READ, TTL).unwrap(), 3);
    assert_waits(&lock.share('C', permits(1, 4), TTL).unwrap(), 2);
    assert_eq!(inside(&mut lock), "A");
}

#[test]
fn readers_up_to_the_next_writer_go_in_together() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BCDE");
    lock.write('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.share(who, READ, TTL).unwrap();
    }
    lock.write('D', TTL).unwrap();
    lock.share('E', READ, TTL).unwrap();
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(2));
    assert_eq!(inside(&mut lock), "BC");
    assert_runs_down(lock.pttl(), CLAIM);
    assert_eq!(lock.queue(), "DE");
    assert_eq!(
        &lock.value().unwrap()[39..],
        " shared: host-B",
        "the label is that of the first"
    );
    assert_consistent(&mut lock);
}

#[test]
fn each_that_is_granted_a_share_gets_a_message() {
    let (server, mut lock) = start();
    let mut listeners = listen(&server, "BC");
    lock.write('A', TTL).unwrap();
    for who in ['B', 'C'] {
        lock.share(who, READ, TTL).unwrap();
    }
    lock.end_write('A').unwrap();
    for (listener, who) in listeners.iter_mut().zip(['B', 'C']) {
        assert_eq!(listener.next_push(), owner(who) + &lock.k);
    }
}

#[test]
fn poll_after_the_end_of_a_phase_begins_the_next_with_all_that_fit() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BCD");
    lock.acquire('A', TTL).unwrap();
    for who in ['B', 'C', 'D'] {
        lock.share(who, permits(1, 2), TTL).unwrap();
    }
    expire(&mut lock);
    let answer = lock.share('C', permits(1, 2), TTL).unwrap();
    assert!(matches!(answer, Answer::Held { flag: '+', .. }));
    assert_eq!((inside(&mut lock), lock.queue()), ("BC".into(), "D".into()));
    assert_runs_down(lock.pttl(), TTL);
    assert_consistent(&mut lock);
}

#[test]
fn newcomer_serves_the_waiters_of_a_free_lock_first() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "WB");
    lock.acquire('A', TTL).unwrap();
    lock.write('W', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    expire(&mut lock);
    assert_waits(&lock.share('C', READ, TTL).unwrap(), 2);
    assert_eq!(holder(&mut lock), Some('W'));
    assert_runs_down(lock.pttl(), CLAIM);
    assert_eq!(lock.value().unwrap().as_bytes()[22], b'+');
    expire(&mut lock);
    assert_waits(&lock.try_share('D', permits(1, 1), TTL).unwrap(), 0);
    assert_eq!(inside(&mut lock), "B", "C does not listen, and comes later");
    assert_eq!(lock.queue(), "C");
    assert_consistent(&mut lock);
}

#[test]
fn newcomer_goes_in_with_the_waiters_that_it_serves() {
    let (server, mut lock) = start();
    let _b = Listener::new(&server, 'B');
    lock.acquire('A', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    expire(&mut lock);
    lock.share('C', READ, TTL).unwrap().token();
    assert_eq!(inside(&mut lock), "BC");
    assert_consistent(&mut lock);
}

#[test]
fn dead_waiters_are_dropped_and_silent_ones_skipped() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BD");
    lock.write('A', TTL).unwrap();
    for who in "BCD".chars() {
        lock.share(who, READ, TTL).unwrap();
    }
    lock.write('E', TTL).unwrap();
    lock.stop_heart('B');
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(2));
    assert_eq!(inside(&mut lock), "D", "B is dead, C does not listen");
    assert_eq!(lock.queue(), "CE");
    assert_eq!(lock.queue_members().len(), 4);
    assert_consistent(&mut lock);
}

#[test]
fn reader_does_not_overtake_a_writer_whose_flag_was_lost() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    lock.write('W', TTL).unwrap();
    let k = lock.k.clone();
    let _: i64 = lock.command(&["SETRANGE", &k, "22", " "]);
    assert_waits(&lock.share('B', READ, TTL).unwrap(), 2);
    assert_eq!(inside(&mut lock), "A");
    assert_consistent(&mut lock);
}

#[test]
fn dead_writer_keeps_no_reader_out() {
    let (_server, mut lock) = start();
    let first = lock.share('A', READ, TTL).unwrap().token();
    lock.write('W', TTL).unwrap();
    lock.stop_heart('W');
    let answer = lock.share('B', READ, TTL).unwrap();
    assert_eq!(answer.token(), first);
    assert!(matches!(answer, Answer::Held { flag: ' ', .. }));
    assert_eq!(lock.queue_members(), []);
    assert_consistent(&mut lock);
}

#[test]
fn flag_without_a_waiter_is_taken_back() {
    let (_server, mut lock) = start();
    for who in ['A', 'B'] {
        lock.share(who, READ, TTL).unwrap();
    }
    let q = lock.q.clone();
    for joins in [false, true] {
        lock.write('W', TTL).unwrap();
        let _: i64 = lock.command(&["DEL", &q]);
        match joins {
            false => lock.share('A', READ, TTL).unwrap().token(),
            true => lock.share('C', READ, TTL).unwrap().token(),
        };
        assert_consistent(&mut lock);
    }
}

/// A monitor's subscription to a pattern counts as a receiver of each message.
#[test]
fn waiter_that_is_silent_for_a_second_needs_a_subscription_of_its_own() {
    let (server, mut lock) = start();
    let _pattern = Listener::to_pattern(&server, "*");
    lock.write('A', TTL).unwrap();
    lock.share('B', READ, TTL).unwrap();
    lock.share('C', READ, TTL).unwrap();
    let later = -(lock.now() + 4_000_000);
    let q = lock.q.clone();
    lock.command::<i64>(&["ZADD", &q, "XX", &later.to_string(), &owner('B')]);
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(2));
    assert_eq!((inside(&mut lock), lock.queue()), ("C".into(), "B".into()));
}

/// As after a failover that restores an old queue.
#[test]
fn owner_that_shares_the_lock_and_queues_counts_once() {
    for ended in [false, true] {
        let (server, mut lock) = start();
        let _listeners = listen(&server, "AB");
        for who in ['A', 'X'] {
            lock.share(who, permits(2, 9), TTL).unwrap();
        }
        let (q, live_until) = (lock.q.clone(), lock.now() + 6_000_000);
        let entry = permits(2, 9).entry('A');
        for (score, member) in [(1, entry), (-live_until, owner('A'))] {
            let _: i64 = lock.command(&["ZADD", &q, &score.to_string(), &member]);
        }
        let k = lock.k.clone();
        let _: i64 = lock.command(&["SETRANGE", &k, "22", "+"]);
        match ended {
            true => {
                lock.end_share('A', permits(2, 9)).unwrap();
                assert_eq!(inside(&mut lock), "X");
            }
            false => {
                let before = lock.shares();
                lock.share('B', READ, TTL).unwrap().token();
                lock.release_share('B', READ).unwrap();
                assert_eq!(lock.shares(), before);
            }
        }
        assert_eq!(lock.queue_members(), []);
        assert_consistent(&mut lock);
    }
}

#[test]
fn full_queue_takes_no_share_in() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let q = lock.q.clone();
    fill(&mut lock, 16_384);
    let error = lock.share('B', READ, TTL).unwrap_err();
    assert_eq!(error.code(), Some("LOCKQUEUEFULL"), "{error}");
    assert_waits(&lock.try_share('B', READ, TTL).unwrap(), 0);
    let members: i64 = lock.command(&["ZCARD", &q]);
    assert_eq!(members, 16_384);
}

#[test]
fn one_script_drops_at_most_128_waiters_and_leaves_the_rest_to_the_next() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let q = lock.q.clone();
    fill(&mut lock, 300);
    assert_waits(&lock.share('B', READ, TTL).unwrap(), 301);
    expire(&mut lock);
    for dead in [300 - 128, 300 - 2 * 128] {
        // Those behind may be alive, so that the lock stays free until then.
        let answer = lock.share('B', READ, TTL).unwrap();
        assert_waits(&answer, dead + 1);
        assert!(matches!(&answer, Answer::Waiting { value, .. } if value.is_empty()));
        assert_eq!(lock.value(), None);
        let left: i64 = lock.command(&["ZCARD", &q]);
        assert_eq!(left, dead + 2);
    }
    lock.share('B', READ, TTL).unwrap().token();
    assert_eq!(lock.queue_members(), []);
    assert_consistent(&mut lock);
    lock.write('W', TTL).unwrap();
    fill(&mut lock, 300);
    lock.stop_heart('W');
    for place in [0, 0] {
        assert_waits(&lock.try_share('C', READ, TTL).unwrap(), place);
    }
    lock.try_share('C', READ, TTL).unwrap().token();
    assert_eq!(lock.queue_members(), []);
    assert_consistent(&mut lock);
}

/// Adds waiters without heartbeats.
fn fill(lock: &mut harness::RawLock, count: i64) {
    let now = lock.now();
    let dead = (1..=count).flat_map(|n| [(now + n).to_string(), format!("waiter {n}")]);
    redis::cmd("ZADD")
        .arg(&lock.q)
        .arg(dead.collect::<Vec<_>>())
        .exec(&mut lock.connection)
        .unwrap();
}
