//! The owner that gets a free lock: the best live one of the queue and the caller.

use super::transcripts;

transcripts! { Node;
waiter_with_a_better_stamp_gets_a_claim_and_the_caller_queues = "
    A acquire 0         | held a
    B listen
    B acquire 10
    expire
    C acquire 20 p=zero+500000 | waits 1 B claim | B+ zero+500000, fence zero+500000, queue C, told B
    B acquire 10        | held+ zero+500000 | 60s"

caller_with_a_better_stamp_takes_the_lock = "
    A acquire 0
    B listen
    B acquire 10
    expire
    C acquire 9         | held+ c           | C+ c, queue B"

caller_with_the_same_stamp_is_compared_by_its_entry = "
    for caller holder in A A, C B, a B
    X acquire 0
    B listen
    B acquire 10
    expire
    $caller acquire 10  |                   | $holder+ t"

stamp_of_the_entry_counts_and_not_that_of_the_poll = "
    A acquire 0
    BC listen
    B acquire 10
    C acquire 20
    expire
    C acquire 5         | waits 1 B         | queue C"

head_that_polls_takes_the_lock_and_leaves_the_queue = "
    A acquire 0
    B acquire 10
    C acquire 20
    expire
    B acquire 10        | held+             | queue C"

attempt_without_queueing_serves_the_waiter_and_stays_outside = "
    A acquire 0
    B listen
    B acquire 10
    expire
    C try 20            | waits 0 B         | B b, told B, queue -"

dead_waiter_is_dropped = "
    A acquire 0
    BC listen
    B acquire 10
    C acquire 20
    B dies
    expire
    D acquire 30        | waits 1 C         | queue D"

entry_without_heartbeat_is_dropped = "
    A acquire 0
    B listen
    B acquire 10
    leave BBBBBBBBBBBBBBBBBBBBBB
    expire
    C acquire 20        | held              | queue -"

waiter_whose_process_is_not_subscribed_is_skipped_and_kept = "
    A acquire 0
    C listen
    B acquire 10
    C acquire 20
    expire
    D acquire 30        | waits 2 C         | queue BD
    expire
    D acquire 30        | held+             | queue B"

silent_waiter_is_asked_for_and_not_taken_for_a_monitor = "
    A acquire 0
    monitor
    B acquire 10
    expire
    # Its last poll was two seconds ago.
    pass 2s
    C acquire 20        | held+             | queue B"

dead_caller_is_served_by_its_new_stamp = "
    A acquire 0
    BC listen
    B acquire 10
    C acquire 20
    B dies
    expire
    B acquire 30        | waits 1 C         | stamp B 30"

waiters_behind_the_caller_are_left_alone = "
    A acquire 0
    C listen
    B acquire 20
    C acquire 30
    B dies
    expire
    # Nor is the dead one looked at.
    D acquire 10        | held+             | queue BC"

one_script_checks_128_waiters = "
    fill 200
    A acquire 0         | held+             | members 72, first 'waiter~00128'"

token_rises_above_a_fence_that_is_ahead_of_the_clock = "
    A acquire 0
    B listen
    B acquire 10
    set F zero+1h
    expire
    C acquire 20        | waits 1 B         | B+ zero+3600000016, fence zero+3600000016, remembered"
}
