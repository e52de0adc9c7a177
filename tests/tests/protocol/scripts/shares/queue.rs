//! The order in which shares and locks are admitted: no waiter is overtaken.

use super::transcripts;

transcripts! { Lock;
poll_after_the_end_of_a_phase_begins_the_next_with_all_that_fit = "
    BCD listen
    A acquire
    BCD acquire 1/2
    expire
    C acquire 1/2       | held+             | inside BC, queue D, 60s, label host-B"

reader_does_not_overtake_a_writer_whose_flag_was_lost = "
    W listen
    A acquire r
    W acquire w
    unflag
    B acquire r         | waits 2           | inside A"

writer_whose_process_is_gone_keeps_its_entry_and_no_reader_out = "
    A acquire r
    W acquire w
    B try r             | held+             | inside AB
    C acquire r         | held+             | inside ABC, queue W"

/// Waiters poll every 0.6 s.
writer_that_has_not_polled_for_the_time_of_a_claim_keeps_no_reader_out = "
    W listen
    A acquire r
    W acquire w
    pass 1400ms
    B try r             | waits 0           | inside A
    pass 200ms
    B try r             | held+             | inside AB, queue W, untold W
    # It goes on, and nobody comes before it.
    W acquire w         | waits 1
    C try r             | waits 0           | inside AB"

readers_behind_a_paused_writer_go_in_by_each_script_that_looks = "
    for step inside in X_acquire_r XYb, Y_end_r Xb, Z_try_r XYZb, b_acquire_r XYb
    bW listen
    XY acquire r
    W acquire w
    b acquire r         | waits 2           | inside XY
    W silent
    $step               |                   | inside $inside, queue W, untold W"

/// A monitor's subscription to a pattern counts as a receiver of each message.
waiter_needs_a_subscription_of_its_own = "
    monitor
    A acquire w
    BC acquire r
    A end w             | freed             | free, queue BC"

/// As after a failover that restores an old queue.
owner_that_shares_the_lock_and_queues_counts_once = "
    AB listen
    AX acquire 2/9
    A enters 1 2/9
    flag
    B acquire r         | held              | inside ABX, sum 5, queue -
    B release r         | freed             | inside AX, sum 4
    A enters 1 2/9
    flag
    A end 2/9           | freed             | inside X, queue -"

full_queue_takes_no_share_in = "
    A acquire
    fill 16384
    B acquire r         | refused LOCKQUEUEFULL
    B try r             | waits 0           | members 16384"

one_script_drops_at_most_128_waiters_and_leaves_the_rest_to_the_next = "
    A acquire
    fill 300
    B acquire r         | waits 301
    expire
    # Those behind may be alive, so that the lock stays free until then.
    B acquire r         | waits 173 nobody  | free, members 174
    B acquire r         | waits 45 nobody   | free, members 46
    B acquire r         | held              | inside B, queue -
    W acquire w
    fill 300
    W dies
    CC try r            | waits 0
    C try r             | held              | inside BC, queue -"

writer_that_also_queues_is_not_served_again = "
    for ticket in 1, now+1d
    AB listen
    A acquire w
    B acquire r
    A enters $ticket
    A end w             | handed            | inside B, queue -"

/// No client requests it. It must not block the queue of a free lock.
more_than_the_limit_is_had_alone = "
    B listen
    A acquire
    B acquire 5/3
    C acquire 1/3
    A end w             | handed            | inside B
    C acquire 1/3       | waits 1"
}
