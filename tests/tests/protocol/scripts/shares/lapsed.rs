//! Shares of crashed holders.

use std::time::Duration;

use harness::{Answer, READ, RawLock, Share};

use super::{TTL, assert_consistent, inside, listen, permits, start, sum};

const SHORT: i64 = 10_000;
const LONGER: Duration = Duration::from_millis(10_001);

/// Shares of killed holders.
fn crash(lock: &mut RawLock, count: i64, ends: i64) {
    let crashed = (1..=count).flat_map(|n| [ends.to_string(), format!("crashed {n:014}")]);
    let sum = sum(lock) + count;
    redis::cmd("ZADD")
        .arg(&lock.r)
        .arg(crashed.collect::<Vec<_>>())
        .arg(&[(-sum).to_string(), "=".to_owned()])
        .exec(&mut lock.connection)
        .unwrap();
}

#[test]
fn crashed_holder_frees_its_own_share_alone() {
    let (server, mut lock) = start();
    lock.share('A', permits(2, 3), SHORT).unwrap();
    lock.share('B', permits(1, 3), TTL).unwrap();
    server.forward(LONGER);
    lock.share('C', permits(2, 3), TTL).unwrap().token();
    assert_eq!((inside(&mut lock), sum(&mut lock)), ("BC".to_owned(), 3));
    assert_consistent(&mut lock);
}

#[test]
fn lapsed_shares_are_taken_off_by_each_script_that_writes() {
    let (server, mut lock) = start();
    let scripts: [fn(&mut RawLock); 3] = [
        |lock| assert_eq!(lock.release_share('B', READ).unwrap(), 1),
        |lock| assert_eq!(lock.end_share('B', READ).unwrap(), Answer::Code(1)),
        |lock| {
            lock.write('W', TTL).unwrap();
            lock.share('B', READ, TTL).unwrap().token();
            lock.end_write('W').unwrap();
            lock.end_share('B', READ).unwrap();
        },
    ];
    for script in scripts {
        lock.share('A', permits(3, 9), SHORT).unwrap();
        for who in ['B', 'C'] {
            lock.share(who, READ, TTL).unwrap();
        }
        server.forward(LONGER);
        script(&mut lock);
        assert_eq!((inside(&mut lock), sum(&mut lock)), ("C".to_owned(), 1));
        assert_consistent(&mut lock);
        lock.release_share('C', READ).unwrap();
        assert_eq!(lock.value(), None);
    }
}

#[test]
fn last_share_frees_the_lock_after_others_have_lapsed() {
    let (server, mut lock) = start();
    for (who, ends) in [('A', false), ('B', true)] {
        lock.share('X', READ, SHORT).unwrap();
        lock.share(who, READ, TTL).unwrap();
        server.forward(LONGER);
        match ends {
            false => assert_eq!(lock.release_share(who, READ).unwrap(), 1),
            true => assert_eq!(lock.end_share(who, READ).unwrap(), Answer::Code(1)),
        }
        super::assert_nothing_left(&mut lock);
    }
}

#[test]
fn lapsed_share_comes_again_and_counts_once() {
    let (server, mut lock) = start();
    let first = lock.share('A', permits(2, 9), SHORT).unwrap();
    lock.share('B', READ, TTL).unwrap();
    server.forward(LONGER);
    assert_eq!(lock.share('A', permits(2, 9), SHORT).unwrap(), first);
    assert_eq!(sum(&mut lock), 3);
    assert_consistent(&mut lock);
}

#[test]
fn lapsed_share_that_ends_is_taken_off_once() {
    let (server, mut lock) = start();
    lock.share('A', permits(2, 9), SHORT).unwrap();
    lock.share('B', permits(3, 9), TTL).unwrap();
    server.forward(LONGER);
    assert_eq!(lock.end_share('A', permits(2, 9)).unwrap(), Answer::Code(1));
    assert_eq!((inside(&mut lock), sum(&mut lock)), ("B".to_owned(), 3));
    assert_eq!(
        lock.end_share('A', permits(2, 9)).unwrap(),
        Answer::Code(-1)
    );
    assert_consistent(&mut lock);
}

#[test]
fn waiters_go_in_when_a_share_lapses() {
    let (server, mut lock) = start();
    let _listeners = listen(&server, "CDE");
    lock.share('A', permits(2, 3), SHORT).unwrap();
    lock.share('B', permits(1, 3), TTL).unwrap();
    for who in "CDE".chars() {
        lock.share(who, permits(1, 3), TTL).unwrap();
    }
    server.forward(Duration::from_millis(5_000));
    for who in "CDE".chars() {
        lock.share(who, permits(1, 3), TTL).unwrap();
    }
    server.forward(Duration::from_millis(5_001));
    lock.share('C', permits(1, 3), TTL).unwrap().token();
    assert_eq!(
        (inside(&mut lock), lock.queue()),
        ("BCD".into(), "E".into())
    );
    assert_consistent(&mut lock);
}

#[test]
fn phase_whose_shares_have_all_lapsed_is_over() {
    let (server, mut lock) = start();
    for share in [READ, permits(1, 1)] {
        let first = lock.share('A', READ, SHORT).unwrap().token();
        // As if K had no expiry: the shares decide.
        for key in [lock.k.clone(), lock.r.clone()] {
            let _: i64 = lock.command(&["PERSIST", &key]);
        }
        server.forward(LONGER);
        let second = lock.share('B', share, TTL).unwrap().token();
        assert!(second >= first + 16);
        assert_eq!(inside(&mut lock), "B");
        assert_consistent(&mut lock);
        lock.release_share('B', share).unwrap();
    }
}

#[test]
fn permits_of_300_crashed_holders_are_had_after_three_scripts() {
    const OF_300: Share = permits(1, 300);
    let (server, mut lock) = start();
    lock.share('A', READ, TTL).unwrap();
    let ends = lock.now() + 1_000 * SHORT;
    crash(&mut lock, 300, ends);
    assert!(matches!(
        lock.try_share('B', OF_300, TTL).unwrap(),
        Answer::Waiting { .. }
    ));
    server.forward(LONGER);
    lock.share('B', OF_300, TTL).unwrap().token();
    assert_eq!(sum(&mut lock), 300 - 128 + 2, "one script takes 128 off");
    for left in [300 - 2 * 128 + 2, 2] {
        lock.try_share('C', permits(300, 300), TTL).unwrap();
        assert_eq!(sum(&mut lock), left);
        assert_consistent(&mut lock);
    }
    lock.share('C', permits(298, 300), TTL).unwrap().token();
    assert_consistent(&mut lock);
}

#[test]
fn own_share_that_lapsed_behind_many_others_counts_once() {
    // Sorted by their names, 128 lapsed shares come before this one.
    const OWN: Share = READ;
    for ends_it in [false, true] {
        let (server, mut lock) = start();
        lock.share('X', READ, TTL).unwrap();
        lock.share('z', OWN, SHORT).unwrap();
        let ends = lock
            .shares()
            .into_iter()
            .find(|(member, _)| member.starts_with('z'));
        crash(&mut lock, 300, ends.unwrap().1);
        server.forward(LONGER);
        match ends_it {
            true => drop(lock.end_share('z', OWN).unwrap()),
            false => drop(lock.share('z', permits(1, 900), TTL).unwrap().token()),
        }
        let expected = if ends_it { 1 } else { 2 };
        assert_eq!(sum(&mut lock), 300 - 128 + expected);
        assert_consistent(&mut lock);
    }
}

#[test]
fn waiter_whose_share_lapsed_behind_many_others_counts_once() {
    let (server, mut lock) = start();
    let _z = listen(&server, "z");
    lock.share('X', READ, TTL).unwrap();
    lock.share('z', READ, SHORT).unwrap();
    let ends = lock
        .shares()
        .into_iter()
        .find(|(member, _)| member.starts_with('z'));
    crash(&mut lock, 300, ends.unwrap().1);
    server.forward(LONGER);
    lock.write('W', TTL).unwrap();
    lock.share('z', READ, TTL).unwrap();
    lock.end_write('W').unwrap();
    assert!(inside(&mut lock).contains('z'));
    assert_consistent(&mut lock);
}
