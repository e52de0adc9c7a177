//! The scripts of several locks that one owner holds together.

use super::transcript::transcripts;

transcripts! { Locks;
free_locks_are_taken_together_with_one_token = "
    for acquire in acquire, try
    A $acquire all      | held a            | each A a, each fence a, each 60s, each queue -
    # A confirmation sets the leases and keeps the token.
    A acquire all 120s  | held a            | each A a, each 120s
    A acquire all       | held a            | each 60s"

token_is_above_those_of_each_lock_before = "
    set F zero+60s @2
    A acquire all       | held zero+60000016 | each A zero+60000016, each fence zero+60000016, each remembered"

clock_of_fewer_digits_gives_a_token_of_as_many_as_ever = "
    back 946080000s
    A acquire all       | held 1000000000s  | each A 1000000000s, each fence 1000000000s, each remembered
    pass 946080000s"

lock_that_was_taken_first_gets_the_token_of_the_last = "
    B acquire @3
    A acquire all       | waits 1 at=3
    set F zero+60s @3
    expire @3
    A acquire all       | held zero+60000016 | each A zero+60000016, each fence zero+60000016, @3 queue -"

fence_beyond_the_bound_is_refused = "
    for place in 1, 2, 3
    set F '9007199254740991' @$place
    A acquire all       | refused LOCKFENCE"

flag_says_that_a_waiter_queues_for_any_of_them = "
    for place in 1, 2, 3
    A acquire all       | held a
    B acquire @$place   | waits 1
    A acquire all       | held+ a
    A renew all         | held+ a
    # Nor is any released.
    A release all       | contended         | same
    B end @$place       | left
    # Until a record is written anew, its flag stays.
    A renew all         | held+ a"

lock_behind_waiters_that_are_dead_is_taken = "
    B acquire @2
    C acquire @2
    C dies @2
    expire @2
    A acquire all       | held              | holders AAA, @2 queue -
    A release all       | freed"

lock_with_a_waiter_that_does_not_answer_is_taken_and_flagged = "
    B acquire @2
    C acquire @2
    # C polled two seconds ago, and its process is not subscribed.
    C silent @2
    expire @2
    A acquire all       | held+             | holders AAA, @2 queue C"

grant_of_a_hand_off_is_confirmed_with_the_others = "
    A listen
    B acquire @2
    A acquire all       | waits 1 at=2 B
    B end @2            | handed            | holders AA., @2 claim
    pass 1s
    A acquire all       | held a            | each A a, each fence a, each 60s"

owner_at_the_head_of_a_free_lock_takes_it = "
    B acquire @2
    A acquire all       | waits 1 at=2
    expire @2
    A acquire all       | held              | holders AAA, @2 queue -"

/// The answer that all were held is lost, and then one of them.
poll_says_that_the_caller_has_a_lock_behind_the_one_in_the_way = "
    for place later in 1 later, 2 later, 3 _
    A acquire all       | held
    expire @$place
    B acquire @$place
    A acquire all       | waits 1 at=$place $later
    A end all           | left
    A acquire all       | waits 1 at=$place"

locks_before_the_one_in_the_way_are_taken = "
    B listen
    B acquire @2        | held b
    A try all           | waits 0 at=2 B    | same
    # An owner that has a part keeps it as it is by an attempt.
    A acquire all 120s  | waits 1 at=2 B 60s | holders AB., @1 120s, @2 B+ b, @2 queue A, @3 queue -, @2 told B
    A try all           | waits 1 at=2      | same
    # A poll extends the locks before, and keeps the place.
    C acquire @1        | waits 1
    A acquire all 180s  | waits 1 at=2      | @1 180s, @1 queue C, @2 queue A
    B end @2            | freed"

lock_in_the_way_of_the_first_leaves_the_others_alone = "
    B acquire @1
    A acquire all       | waits 1 at=1      | holders B..
    # The owner leaves its queue.
    A end all           | left              | @1 queue -
    A end all           | absent            | same"

attempt_writes_nothing_if_a_lock_is_in_the_way = "
    B acquire @3
    A try all           | waits 0 at=3      | same"

owners_queue_in_order_of_arrival = "
    B acquire @2
    C acquire @2
    A acquire all       | waits 2 at=2      | @2 queue CA"

free_lock_goes_to_the_head_of_its_queue = "
    for verb place holders in acquire 1 AC., try 0 .C.
    C listen
    B acquire @2
    C acquire @2
    expire @2
    A $verb all         | waits $place at=2 C claim | holders $holders, @2 claim, @2 told C"

waiter_of_one_lock_is_not_overtaken = "
    C listen
    B acquire @1
    C acquire @1
    A acquire all       | waits 2 at=1
    B end @1            | handed            | @1 told C
    A acquire all       | waits 1 at=1      | holders C.."

earlier_lock_that_was_lost_is_named_or_taken_again = "
    B acquire @3
    A acquire all       | waits 1 at=3      | holders AAB
    expire @1
    A acquire all       | waits 1 at=3      | holders AAB
    expire @1
    C acquire @1
    A acquire all       | waits 1 at=1 later
    # The client ends the owner and begins anew.
    A end all           | left              | holders C.B, @3 queue -"

grant_of_a_later_lock_is_not_confirmed_while_an_earlier_one_is_in_the_way = "
    A listen
    B acquire @2
    A acquire all       | waits 1 at=2
    expire @1
    C acquire @1
    B end @2            | handed            | holders CA.
    A acquire all       | waits 1 at=1 later | @2 claim"

foreign_holder_is_waited_for_and_not_changed = "
    set K 'x{1000}' @2
    A acquire all       | waits 1 at=2 holder=x{512} forever | @2 'x{1000}', @2 queue A
    A end all           | left              | holders .x."

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

locks_without_waiters_are_freed = "
    A acquire all
    A end all           | freed             | only F
    A end all           | absent            | same
    A acquire all
    A release all       | freed             | only F
    A release all       | absent            | same"

each_lock_goes_to_the_head_of_its_queue = "
    BCD listen
    A acquire all
    B acquire @1
    D acquire @3
    C acquire @3
    D dies @3
    A end all           | handed            | holders B.C, @1 claim, @1 B b, @1 fence b, @3 C c, @1 told B, @3 told C, @3 queue -"

owner_that_waits_leaves_the_queue_and_gives_back_what_it_has = "
    C listen
    B acquire @2
    A acquire all       | waits 1 at=2
    C acquire all       | waits 1 at=1
    A end all           | left              | holders CB., @2 queue -"

grant_that_was_not_confirmed_is_given_on = "
    AC listen
    B acquire @2
    A acquire all
    C acquire @2
    B end @2            | handed            | holders AA.
    A end all           | left              | holders .C."

locks_of_others_are_left_alone = "
    B acquire all
    A end all           | absent            | same
    A release all       | absent            | same
    A renew all 120s    | nil               | same"

lock_that_was_lost_is_reported_and_the_others_go_on = "
    for lost next holders in 1 2 .B., 2 3 ..B, 3 1 B..
    B listen
    A acquire all
    B acquire @$next
    expire @$lost
    A renew all 120s    | nil               | same
    A end all           | left              | holders $holders"

/// As after a failover that restores an old queue.
own_stale_place_is_removed = "
    AB listen
    A acquire all
    A enters 5 heartless @2
    B acquire @2
    A end all           | handed            | holders .B., @2 queue -"

renewal_extends_all_leases_and_shortens_none = "
    A acquire all       | held a
    A renew all 120s    | held a            | each 120s
    A renew all         | held a            | each 120s"

lock_that_is_gone_or_anothers_keeps_all_from_renewal_and_release = "
    for place taken in 1 B.., 2 .B., 3 ..B
    A acquire all
    expire @$place
    A renew all 120s    | nil               | same
    A release all       | contended         | same
    B acquire @$place
    A renew all 120s    | nil               | same
    A release all       | contended         | same
    # The client sends this then.
    A end all           | left              | holders $taken"

value_of_another_program_that_begins_with_part_of_the_owner_is_not_the_owners = "
    A acquire all
    set K 'A{21}' @2
    A renew all         | nil               | same
    A release all       | contended         | same
    A end all           | left              | @2 'A{21}'"
}

/// As many as a client may ask for.
#[test]
fn thirty_two_locks_are_taken_confirmed_renewed_and_released() {
    use super::{TTL, transcript::pooled};
    let server = pooled();
    let names: Vec<String> = (10..42).map(|number| format!("b:{number}")).collect();
    let mut all = harness::RawLocks::new(&server, names.iter().map(String::as_str));
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

/// A script of several locks names no shares: its fourth key is another lock's.
#[test]
fn shared_lock_is_not_counted_by_the_record_of_another_lock() {
    use super::{TTL, transcript::pooled};
    let server = pooled();
    let mut all = harness::RawLocks::new(&server, ["a:1", "a:2", "a:3"]);
    all.locks[0].share('R', harness::READ, TTL).unwrap();
    let k = all.locks[1].k.clone();
    let _: i64 = all.locks[1].command(&["ZADD", &k, "-7", "="]);
    let answer = all.acquire('A', TTL).unwrap();
    assert!(
        matches!(answer, (1, harness::Answer::Waiting { counted: None, .. })),
        "{answer:?}"
    );
}
