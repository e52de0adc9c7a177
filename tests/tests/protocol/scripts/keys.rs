//! The scripts of several locks that one owner holds together.

use super::transcript::transcripts;

transcripts! { Locks;
clock_of_fewer_digits_gives_a_token_of_as_many_as_ever = "
    back 946080000s
    A acquire all       | held 1000000000s  | each A 1000000000s, each fence 1000000000s, each remembered
    pass 946080000s"

lock_that_was_taken_first_gets_the_token_of_the_last = "
    B acquire @3
    A acquire all       | waits 1 at=3
    set F zero+60s @3
    expire @3
    A acquire all       | held zero+60000016 | each A zero+60000016, each fence zero+60000016"

fence_beyond_the_bound_is_refused = "
    for place in 1, 2, 3
    set F '9007199254740991' @$place
    A acquire all       | refused LOCKFENCE"

shared_lock_is_waited_for_until_its_shares_end = "
    A listen
    R acquire r @2
    A acquire all       | waits 1 at=2 shared uncounted
    R release r @2      | contended
    R end r @2          | handed
    A acquire all       | held              | holders AAA"

waiting_reader_is_served_by_the_end_of_all = "
    R listen
    A acquire all
    R acquire r @2
    A release all       | contended         | same
    A end all           | handed
    R acquire r @2      | held r            | @2 shared r"

queue_that_is_full_refuses_the_owner = "
    B acquire @2
    fill 16384 @2
    A acquire all       | fails LOCKQUEUEFULL | holders AB.
    # It has the first until its end.
    A end all           | left              | holders .B., @2 members 16384"

value_of_another_program_that_begins_with_part_of_the_owner_is_not_the_owners = "
    A acquire all
    set K 'A{21}' @2
    A renew all         | nil               | same
    A release all       | contended         | same
    A end all           | left              | @2 'A{21}'"
}

/// The largest number of keys that a client may acquire together.
#[test]
fn thirty_two_locks_are_taken_confirmed_renewed_and_released() {
    use super::{TTL, transcript::Place};
    for server in Place::all() {
        let names: Vec<String> = (10..42).map(|number| format!("b:{number}")).collect();
        let mut all = harness::RawLocks::new(&*server, names.iter().map(String::as_str));
        let (_, taken) = all.acquire('A', TTL).unwrap();
        assert_eq!(all.acquire('A', TTL).unwrap(), (0, taken.clone()));
        assert_eq!(
            all.renew('A', TTL).unwrap(),
            Some(format!(" {:016}", taken.token()))
        );
        assert_eq!(all.release('A').unwrap(), 1);
        all.acquire('B', TTL).unwrap().1.token();
        assert_eq!(all.end('B').unwrap(), 1);
        assert!(all.locks.iter_mut().all(|lock| lock.value().is_none()));
    }
}

/// A script of several locks names no shares: its fourth key is another lock's.
#[test]
fn shared_lock_is_not_counted_by_the_record_of_another_lock() {
    use super::{TTL, transcript::Place};
    for server in Place::all() {
        let mut all = harness::RawLocks::new(&*server, ["a:1", "a:2", "a:3"]);
        all.locks[0].share('R', harness::READ, TTL).unwrap();
        let k = all.locks[1].k.clone();
        let _: i64 = all.locks[1].command(&["ZADD", &k, "-7", "="]);
        let answer = all.acquire('A', TTL).unwrap();
        assert!(
            matches!(answer, (1, harness::Answer::Waiting { counted: None, .. })),
            "{answer:?}"
        );
    }
}
