//! The queue: order, heartbeats, its expiry and its cap.

use super::transcript::transcripts;

transcripts! { Lock;
waiters_queue_in_order_of_arrival_and_polls_keep_the_place = "
    A acquire
    # In reverse alphabetical order, so that no other order could pass for this one.
    D acquire           | waits 1
    C acquire           | waits 2
    B acquire           | waits 3           | queue DCB
    C acquire           | waits 2           | queue DCB
    D acquire           | waits 1           | queue DCB
    # A poll without queueing sees its place and keeps it.
    B try               | waits 3           | same"

tickets_rise_even_if_the_clock_does_not = "
    A acquire
    B enters zero+60s heartless
    C acquire           | waits 2           | ticket C zero+60000001
    D acquire           | waits 3           | ticket D zero+60000002, entries BCD"

waiter_counts_as_alive_for_six_seconds_and_its_queue_for_seven = "
    A acquire
    B acquire           | waits 1           | queue B, lives B now+6s, expiry Q 7s
    pass 2s
    B acquire           | waits 1           | queue B, lives B now+6s, expiry Q 7s
    B dies
    B acquire           | waits 1           | lives B now+6s
    pass 7010ms
    A acquire           | held+             | queue -"

full_queue_takes_no_owner_in_and_throws_none_out = "
    A acquire
    fill 16383
    B acquire           | waits 16384
    C acquire           | refused LOCKQUEUEFULL
    # A waiter can still poll, and an attempt without queueing still gets an answer.
    B acquire           | waits 16384
    C try               | waits 0
    # With one place free, the next owner takes it.
    leave waiter~00001
    C acquire           | waits 16384"

queue_full_of_the_dead_frees_itself = "
    fill 16384
    # One script checks at most 128 entries, and then takes the lock.
    A acquire           | held+             | members 16256
    expire
    B acquire           | held+             | members 16128"
}
