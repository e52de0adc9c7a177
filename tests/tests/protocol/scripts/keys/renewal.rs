//! `keys_renew` and `keys_release`.

use harness::owner;

use super::{TTL, assert_nothing_left, assert_runs_down, expire, holders, listen, snapshot, start};

#[test]
fn renewal_extends_all_leases_and_shortens_none() {
    let (_server, mut all) = start();
    all.acquire('A', TTL).unwrap();
    let held = all.renew('A', 2 * TTL).unwrap().unwrap();
    assert_eq!(held[1..], all.locks[0].fence().unwrap());
    assert_eq!(all.renew('A', TTL).unwrap().unwrap(), held);
    for lock in &mut all.locks {
        assert_runs_down(lock.pttl(), 2 * TTL);
    }
}

#[test]
fn renewal_says_whether_a_waiter_queues_for_any_of_them() {
    let (_server, mut all) = start();
    all.acquire('A', TTL).unwrap();
    assert_eq!(&all.renew('A', TTL).unwrap().unwrap()[..1], " ");
    all.locks[2].acquire('B', TTL).unwrap();
    assert_eq!(&all.renew('A', TTL).unwrap().unwrap()[..1], "+");
}

#[test]
fn renewal_extends_none_if_one_is_gone_or_anothers() {
    for number in 0..3 {
        for another in [false, true] {
            let (_server, mut all) = start();
            all.acquire('A', TTL).unwrap();
            expire(&mut all.locks[number]);
            if another {
                all.locks[number].acquire('B', TTL).unwrap();
            }
            let before = snapshot(&mut all);
            assert_eq!(all.renew('A', 2 * TTL).unwrap(), None, "{number}");
            assert_eq!(snapshot(&mut all), before);
            for lock in &mut all.locks {
                assert!(lock.pttl() <= TTL);
            }
        }
    }
}

#[test]
fn release_frees_all() {
    let (_server, mut all) = start();
    all.acquire('A', TTL).unwrap();
    assert_eq!(all.release('A').unwrap(), 1);
    assert_nothing_left(&mut all);
    assert_eq!(all.release('A').unwrap(), 0);
}

#[test]
fn release_frees_none_if_a_waiter_queues_for_one() {
    for number in 0..3 {
        let (_server, mut all) = start();
        all.acquire('A', TTL).unwrap();
        all.locks[number].acquire('B', TTL).unwrap();
        let before = snapshot(&mut all);
        assert_eq!(all.release('A').unwrap(), 2);
        assert_eq!(snapshot(&mut all), before);
    }
}

#[test]
fn release_frees_none_if_one_is_gone_or_anothers() {
    for number in 0..3 {
        for another in [false, true] {
            let (server, mut all) = start();
            let _b = listen(&server, "B");
            all.acquire('A', TTL).unwrap();
            expire(&mut all.locks[number]);
            if another {
                all.locks[number].acquire('B', TTL).unwrap();
            }
            let before = snapshot(&mut all);
            assert_eq!(all.release('A').unwrap(), 2);
            assert_eq!(snapshot(&mut all), before);
            // The client sends this then.
            assert_eq!(all.end('A').unwrap(), 3);
            let left: String = (0..3)
                .map(|of| if another && of == number { 'B' } else { '.' })
                .collect();
            assert_eq!(holders(&mut all), left);
        }
    }
}

#[test]
fn release_of_locks_of_another_owner_does_nothing() {
    let (_server, mut all) = start();
    all.acquire('B', TTL).unwrap();
    let before = snapshot(&mut all);
    assert_eq!(all.release('A').unwrap(), 0);
    assert_eq!(snapshot(&mut all), before);
}

#[test]
fn value_of_another_program_that_begins_with_part_of_the_owner_is_not_the_owners() {
    let (_server, mut all) = start();
    all.acquire('A', TTL).unwrap();
    let k = all.locks[1].k.clone();
    let short = owner('A')[..21].to_owned();
    let _: () = all.locks[1].command(&["SET", &k, &short]);
    assert_eq!(all.renew('A', TTL).unwrap(), None);
    assert_eq!(all.release('A').unwrap(), 2);
    assert_eq!(all.end('A').unwrap(), 3);
    assert_eq!(all.locks[1].value().unwrap(), short);
}
