//! Writers: the plain lock, ended by `share_end`.

use harness::{Answer, READ, entry, owner};

use super::{
    TTL, assert_consistent, assert_nothing_left, assert_runs_down, assert_waits, holder, inside,
    listen, start,
};

#[test]
fn writer_holds_a_plain_lock() {
    let (_server, mut lock) = start();
    let token = lock.write('A', TTL).unwrap().token();
    assert_eq!(
        lock.value().unwrap(),
        format!("{} {token:016} host-A", owner('A'))
    );
    assert!(lock.renew('A', 2 * TTL).unwrap().is_some());
    assert_runs_down(lock.pttl(), 2 * TTL);
    assert_eq!(lock.release('A').unwrap(), 1);
    assert_nothing_left(&mut lock);
}

#[test]
fn end_of_a_writer_frees_the_lock() {
    let (_server, mut lock) = start();
    lock.write('A', TTL).unwrap();
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(1));
    assert_nothing_left(&mut lock);
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(0), "sent twice");
}

#[test]
fn writer_hands_on_to_the_next_writer_alone() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "BC");
    lock.write('A', TTL).unwrap();
    lock.write('B', TTL).unwrap();
    lock.share('C', READ, TTL).unwrap();
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(2));
    assert_eq!((holder(&mut lock), lock.queue()), (Some('B'), "C".into()));
    assert_eq!(lock.value().unwrap().as_bytes()[22], b'+');
    assert_eq!(lock.end_write('A').unwrap(), Answer::Code(-1), "sent twice");
    assert_eq!(holder(&mut lock), Some('B'));
}

#[test]
fn writer_that_also_queues_leaves_the_queue_and_is_not_served_again() {
    for ticket in [1, i64::MAX / 2_048] {
        let (server, mut lock) = start();
        let _listeners = listen(&server, "AB");
        lock.write('A', TTL).unwrap();
        lock.share('B', READ, TTL).unwrap();
        let (q, live_until) = (lock.q.clone(), lock.now() + 6_000_000);
        for (score, member) in [(ticket, entry('A')), (-live_until, owner('A'))] {
            let _: i64 = lock.command(&["ZADD", &q, &score.to_string(), &member]);
        }
        assert_eq!(lock.end_write('A').unwrap(), Answer::Code(2));
        assert_eq!(inside(&mut lock), "B");
        assert_eq!(lock.queue_members(), []);
        assert_consistent(&mut lock);
    }
}

#[test]
fn writer_waits_for_readers_as_for_any_holder() {
    let (_server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    let Answer::Waiting {
        remaining, value, ..
    } = lock.write('W', TTL).unwrap()
    else {
        panic!("A reads");
    };
    assert_runs_down(remaining, TTL);
    assert!(value.ends_with(" shared: host-A"), "{value}");
    assert_eq!(lock.value().unwrap().as_bytes()[22], b'+');
    assert_waits(&lock.acquire('P', TTL).unwrap(), 2);
    assert_consistent(&mut lock);
}
