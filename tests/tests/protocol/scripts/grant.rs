//! The waiter that gets a free lock: `acquire` while other owners queue.

use super::transcript::transcripts;

transcripts! { Lock;
head_that_polls_takes_the_lock_and_leaves_the_queue = "
    A acquire           | held a
    C listen
    BC acquire
    expire
    B acquire           | held+ b           | B+ b, 60s, queue C"

head_that_polls_needs_neither_a_push_nor_a_heartbeat = "
    A acquire
    C listen
    BC acquire
    B dies
    expire
    B acquire           | held+ b           | queue C, untold C"

live_head_is_served_before_a_newcomer = "
    A acquire           | held a
    B listen
    B acquire           | waits 1
    expire
    # The claim: B's own value with a new token; C queues now, so the flag is set.
    C acquire           | waits 1 B claim   | B+ b, fence b, claim, queue C, told B
    # Confirmed, it lives its ttl.
    B acquire           | held+ b           | 60s, untold B"

confirmed_claim_lasts_no_longer_than_the_ttl = "
    A acquire
    B listen
    B acquire 500ms
    A end               | handed            | B b, claim
    B acquire 500ms     | held b            | 500ms"

try_serves_the_head_and_writes_nothing_for_itself = "
    A acquire
    B listen
    B acquire
    expire
    X try               | waits 0 B claim   | B b, queue -, told B"

flag_of_a_claim_says_whether_waiters_remain = "
    A acquire
    B listen
    BC acquire
    expire
    X try               | waits 0 B claim   | B+ b, queue C"

dead_waiter_is_dropped_although_it_listens = "
    A acquire
    BC listen
    BC acquire
    B dies
    expire
    X try               | waits 0 C claim   | C c, queue -, told C, untold B"

entry_without_a_heartbeat_is_dropped = "
    A acquire
    B listen
    B acquire
    leave BBBBBBBBBBBBBBBBBBBBBB
    expire
    C acquire           | held c            | queue -"

waiter_without_a_receiver_is_skipped_and_kept = "
    A acquire
    C listen
    BC acquire
    expire
    X try               | waits 0 C claim   | C+ c, told C, queue B"

unreachable_waiters_leave_the_lock_to_who_polls = "
    for who members in C 2, D 4
    A acquire
    BC acquire
    expire
    $who acquire        | held+ c           | $who+ c, members $members"

waiter_beyond_the_walk_leaves_the_queue_with_the_lock = "
    A acquire
    fill 200
    B acquire           | waits 201
    expire
    B acquire           | held+             | members 72, first 'waiter~00128'"

/// For example a monitor: PUBLISH counts it as a receiver, and it cannot take a lock.
monitor_is_not_taken_for_a_silent_waiter = "
    monitor
    A acquire
    C listen
    BC acquire
    B silent
    # B does not listen, nor is that a proof of its death.
    A end               | handed            | C+ c, queue B"

/// If the user may not query subscriptions, a waiter that PUBLISH counts is granted the lock.
silent_waiter_is_served_without_the_right_to_ask = "
    monitor
    A acquire
    B acquire
    B silent
    deny -pubsub
    A end               | handed            | B b"

refused_publish_skips_the_waiter = "
    A acquire
    B listen
    B acquire
    expire
    deny resetchannels
    C acquire           | held+             | queue B"

missed_claim_goes_to_the_tail = "
    A acquire
    B listen
    BC acquire
    expire
    X try               | waits 0 B         | B+ b
    expire
    C acquire           | held c            | C c
    D acquire           | waits 1
    B acquire           | waits 2           | queue DB"
}
