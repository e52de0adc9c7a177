//! The queue: order, heartbeats, its expiry and its cap.

use super::transcript::transcripts;

transcripts! { Lock;
ticket_is_the_time_of_arrival = "
    A acquire
    B acquire           | waits 1           | ticket B now
    pass 2s
    B acquire           | waits 1           | ticket B now-2s"

tickets_rise_even_if_the_clock_does_not = "
    A acquire
    B enters zero+60s heartless
    C acquire           | waits 2           | ticket C zero+60000001
    D acquire           | waits 3           | ticket D zero+60000002, entries BCD"

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
