//! `revoke`: a lock is taken from its holder in favour of the queue.

use harness::{Answer, Listener, READ, RawLock, entry, owner};
use redis::RedisResult;

use super::{CLAIM, TTL, assert_refused, assert_runs_down, expire, holder, snapshot, spoil, start};

const NOTICE: &str = "\u{1f}0192\u{1f}ann\u{1f}stuck\u{1f}";

/// The message to the holder `who`.
fn told(lock: &RawLock, who: char) -> String {
    format!("!{}{NOTICE}{}", owner(who), lock.k)
}

fn revoke(lock: &mut RawLock, token: i64) -> RedisResult<i64> {
    lock.revoke(token, NOTICE)
}

fn fence(lock: &mut RawLock) -> i64 {
    lock.fence()
        .expect("there is a fence")
        .parse()
        .expect("digits")
}

#[test]
fn lock_without_waiters_is_freed_and_its_holder_told() {
    let (server, mut lock) = start();
    let mut a = Listener::new(&server, 'A');
    let token = lock.acquire('A', TTL).unwrap().token();
    assert_eq!(revoke(&mut lock, token).unwrap(), 1);
    assert_eq!(a.next_push(), told(&lock, 'A'));
    assert_eq!(lock.value(), None);
    assert!(lock.acquire('B', TTL).unwrap().token() >= token + 16);
}

#[test]
fn lock_goes_to_the_head_of_the_queue() {
    let (server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    let mut b = Listener::new(&server, 'B');
    let _c = Listener::new(&server, 'C');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    assert_eq!(revoke(&mut lock, token).unwrap(), 2);
    assert_eq!(b.next_push(), owner('B') + &lock.k);
    let value = lock.value().unwrap();
    let next: i64 = value[23..39].parse().unwrap();
    assert!(next >= token + 16);
    assert_eq!(value, format!("{}+{next:016} host-B", owner('B')));
    assert_runs_down(lock.pttl(), CLAIM);
    assert_eq!(fence(&mut lock), next);
    assert_eq!(lock.queue(), "C");
    // Sent twice, it finds B.
    assert_eq!(revoke(&mut lock, token).unwrap(), -1);
    assert_eq!(lock.value().unwrap(), value);
}

#[test]
fn dead_waiters_are_dropped_and_unreachable_ones_stay() {
    let (server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    let _b = Listener::new(&server, 'B');
    for who in ['B', 'C'] {
        lock.acquire(who, TTL).unwrap();
    }
    lock.stop_heart('B');
    assert_eq!(revoke(&mut lock, token).unwrap(), 1);
    assert_eq!((lock.value(), lock.queue()), (None, "C".to_owned()));
    let next = lock.acquire('C', TTL).unwrap().token();
    assert!(next >= token + 16);
}

#[test]
fn turns_of_a_grant_name_it_and_no_others() {
    let (_server, mut lock) = start();
    for (turn, expected) in [(-1, -1), (16, -1), (15, 1), (0, 1)] {
        let token = match lock.value() {
            Some(value) => value[23..39].parse().unwrap(),
            None => lock.acquire('A', TTL).unwrap().token(),
        };
        let before = snapshot(&mut lock);
        assert_eq!(revoke(&mut lock, token + turn).unwrap(), expected, "{turn}");
        if expected < 0 {
            assert_eq!(snapshot(&mut lock), before, "nothing is written");
        }
    }
}

#[test]
fn free_lock_stays_as_it_is() {
    let (_server, mut lock) = start();
    assert_eq!(revoke(&mut lock, 17).unwrap(), 0);
    let token = lock.acquire('A', TTL).unwrap().token();
    lock.acquire('B', TTL).unwrap();
    expire(&mut lock);
    let before = snapshot(&mut lock);
    assert_eq!(revoke(&mut lock, token).unwrap(), 0);
    assert_eq!(snapshot(&mut lock), before);
}

#[test]
fn tokens_rise_although_the_fence_was_lost_and_the_clock_is_behind() {
    for has_waiter in [false, true] {
        let (server, mut lock) = start();
        let _b = Listener::new(&server, 'B');
        // A token of a clock that is an hour ahead.
        let ahead = lock.now() + 3_600_000_000;
        let (k, f) = (lock.k.clone(), lock.f.clone());
        let record = format!("{} {ahead:016} host-A", owner('A'));
        let _: () = lock.command(&["SET", &k, &record, "PX", "60000"]);
        if has_waiter {
            lock.acquire('B', TTL).unwrap();
            let _: i64 = lock.command(&["DEL", &f]);
        }
        assert_eq!(
            revoke(&mut lock, ahead).unwrap(),
            if has_waiter { 2 } else { 1 }
        );
        let next = lock.acquire('B', TTL).unwrap().token();
        assert!(next >= ahead + 16, "{next} after {ahead}");
    }
}

#[test]
fn all_that_share_a_lock_lose_it() {
    let (server, mut lock) = start();
    let mut listeners = ['A', 'B', 'W'].map(|who| Listener::new(&server, who));
    let token = lock.share('A', READ, TTL).unwrap().token();
    lock.share('B', READ, TTL).unwrap();
    lock.write('W', TTL).unwrap();
    assert_eq!(revoke(&mut lock, token).unwrap(), 2);
    for (listener, who) in listeners.iter_mut().zip(['A', 'B']) {
        assert_eq!(listener.next_push(), told(&lock, who));
    }
    assert_eq!(listeners[2].next_push(), owner('W') + &lock.k);
    assert_eq!(holder(&mut lock), Some('W'));
    let r = lock.r.clone();
    assert_eq!(lock.command::<i64>(&["EXISTS", &r]), 0);
    assert_eq!(lock.renew_share('A', READ, TTL).unwrap(), None);
}

#[test]
fn waiting_readers_go_in_together() {
    let (server, mut lock) = start();
    let token = lock.write('W', TTL).unwrap().token();
    let _listeners = ['A', 'B'].map(|who| Listener::new(&server, who));
    for who in ['A', 'B'] {
        lock.share(who, READ, TTL).unwrap();
    }
    assert_eq!(revoke(&mut lock, token).unwrap(), 2);
    assert_eq!(lock.owners(), 2);
    assert!(lock.value().unwrap().starts_with("shared"));
    assert!(lock.share('A', READ, TTL).unwrap().token() >= token + 16);
    assert_eq!(lock.queue_members(), []);
}

#[test]
fn shared_lock_whose_shares_were_lost_is_revoked() {
    let (_server, mut lock) = start();
    let token = lock.share('A', READ, TTL).unwrap().token();
    let r = lock.r.clone();
    let _: i64 = lock.command(&["DEL", &r]);
    assert_eq!(revoke(&mut lock, token).unwrap(), 1);
    assert_eq!(lock.value(), None);
}

#[test]
fn lock_at_rest_is_revoked_and_no_owner_told() {
    let (_server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    lock.rest('A', TTL).unwrap();
    assert_eq!(revoke(&mut lock, token).unwrap(), 1);
    assert_eq!(lock.value(), None);
}

#[test]
fn foreign_record_is_compared_whole() {
    let (_server, mut lock) = start();
    let k = lock.k.clone();
    let long = "x".repeat(600);
    for value in ["", "secret", &long] {
        let _: () = lock.command(&["SET", &k, value]);
        let shown = &value[..value.len().min(512)];
        let length = value.len() as i64;
        for (shown, length) in [("other", 5), (shown, length + 1), (shown, -1)] {
            let answer = lock.revoke_record(shown, length, NOTICE).unwrap();
            assert_eq!(answer, -1, "{shown} {length}");
        }
        assert_eq!(revoke(&mut lock, 17).unwrap(), -1);
        assert_eq!(lock.value().unwrap(), value);
        assert_eq!(lock.revoke_record(shown, length, NOTICE).unwrap(), 1);
        assert_eq!(lock.value(), None);
    }
}

#[test]
fn record_of_this_crate_is_not_taken_for_a_foreign_one() {
    let (_server, mut lock) = start();
    lock.acquire('A', TTL).unwrap();
    let value = lock.value().unwrap();
    let answer = lock.revoke_record(&value, value.len() as i64, NOTICE);
    assert_eq!(answer.unwrap(), -1);
    assert_eq!(lock.value().unwrap(), value);
}

#[test]
fn records_of_other_types_are_refused_before_anything_is_written() {
    let (_server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    for record in [lock.k.clone(), lock.q.clone(), lock.r.clone()] {
        let (_server, mut lock) = start();
        let token = match record == lock.k {
            true => token,
            false => lock.acquire('A', TTL).unwrap().token(),
        };
        spoil(&mut lock, &record);
        assert_refused(&mut lock, "WRONGTYPE", |lock| revoke(lock, token));
    }
    let f = lock.f.clone();
    for fence in ["x", "9007199254740990"] {
        let _: () = lock.command(&["SET", &f, fence]);
        assert_refused(&mut lock, "LOCKFENCE", |lock| revoke(lock, token));
    }
    spoil(&mut lock, &f);
    assert_refused(&mut lock, "WRONGTYPE", |lock| revoke(lock, token));
}

#[test]
fn forged_token_beyond_the_bound_is_refused() {
    let (_server, mut lock) = start();
    let k = lock.k.clone();
    let forged = 9_007_199_254_740_990_i64;
    let record = format!("{} {forged:016} host-A", owner('A'));
    let _: () = lock.command(&["SET", &k, &record]);
    assert_refused(&mut lock, "LOCKFENCE", |lock| revoke(lock, forged));
}

#[test]
fn revoked_holder_can_neither_renew_nor_release() {
    let (_server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    revoke(&mut lock, token).unwrap();
    lock.acquire('B', TTL).unwrap();
    assert_eq!(lock.renew('A', TTL).unwrap(), None);
    assert_eq!(lock.release('A').unwrap(), -1);
    assert_eq!(lock.end('A').unwrap(), Answer::Code(-1));
    assert_eq!(holder(&mut lock), Some('B'));
}

#[test]
fn server_out_of_memory_serves_the_next_waiter() {
    let (server, mut lock) = start();
    let token = lock.acquire('A', TTL).unwrap().token();
    let _b = Listener::new(&server, 'B');
    lock.acquire('B', TTL).unwrap();
    let _: () = lock.command(&["CONFIG", "SET", "maxmemory", "1"]);
    assert_eq!(revoke(&mut lock, token).unwrap(), 2);
    assert_eq!(lock.value().unwrap()[..22], entry('B')[..22]);
}
