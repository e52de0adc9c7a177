//! Which waiter gets a free lock: by `acquire` while other owners queue, and by `end`.

use super::transcript::transcripts;

transcripts! { Lock;
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

/// As a late poll of the holder's own would leave it: before B, and after B.
holder_that_also_queues_is_not_served_again = "
    for ticket in 1, now+1d
    A acquire
    AB listen
    B acquire
    A enters $ticket
    A end               | handed            | B b, queue -"

next_that_queues_beyond_the_walk_leaves_the_queue_with_the_lock = "
    A acquire
    fill 200
    N acquire           | waits 201
    A end next N        | held+ n           | members 72"
}
