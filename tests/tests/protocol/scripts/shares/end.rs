//! `share_end`, of those that share a lock and of writers.

use super::transcripts;

transcripts! { Lock;
share_is_taken_off_and_the_last_frees_the_lock = "
    A acquire r 120s
    B acquire 2/9
    A end r             | freed             | inside B, sum 2, 60s
    A end r             | another           | same
    B end 2/9           | freed             | only F
    B end 2/9           | absent            | same"

another_share_stays = "
    A acquire 2/9
    AB end r            | another           | same
    B end 2/9           | another           | same
    B end w             | another           | same"

lock_that_another_owner_holds_alone_stays = "
    B end r             | absent            | same
    A acquire
    B end r             | another           | same
    B end w             | another           | same"

last_share_is_handed_to_the_writer_that_waits = "
    W listen
    A acquire r         | held a
    W acquire w         | waits 1
    A end r             | handed            | W w, fence w, claim, without R, told W"

permit_that_is_given_back_goes_to_the_waiter = "
    C listen
    AB acquire 1/2      | held a
    C acquire 1/2       | waits 1
    # The claim is a share of a second and a half, until it is confirmed.
    A end 1/2           | handed            | inside BC, shares Cclaim, told C
    C acquire 1/2       | held a            | inside BC, shares C60s, 60s"

silent_waiters_leave_the_lock_free_for_their_polls = "
    A acquire r
    W acquire w
    A end r             | freed             | free, without R, queue W
    W acquire w         | held w"

waiter_that_gives_up_lets_those_behind_it_in = "
    BCW listen
    A acquire 2/4
    W acquire w         | waits 1
    B acquire 2/4       | waits 2
    C acquire 1/4       | waits 3
    W end w             | left              | inside AB, queue C
    C end 1/4           | left              | inside AB, queue -
    C end 1/4           | another           | same"

waiter_leaves_the_queue_of_a_lock_that_is_held_alone = "
    BC listen
    A acquire           | held a
    BC acquire r
    B end r             | left              | A+ a, queue C
    expire
    # C is granted the share that begins a phase.
    W acquire w         | waits 1 C         | queue W"

waiter_that_leaves_a_free_lock_serves_the_next = "
    CD listen
    A acquire
    B acquire r
    C acquire w
    D acquire r
    expire
    B end r             | left              | C+ c, queue D
    expire
    # An owner that did not queue serves none.
    X end w             | absent            | free
    E acquire r         | held              | inside DE"

grant_to_an_owner_that_gave_up_is_passed_on = "
    BC listen
    A acquire
    BC acquire r
    A end               | handed            | B+ b
    B end r             | handed            | inside C"

writer_holds_a_plain_lock = "
    A acquire w         | held a            | A a, 60s
    A renew 120s        | held a            | 120s
    A release           | freed             | only F
    A acquire w         | held b
    A end w             | freed             | only F
    A end w             | absent            | same"

writer_hands_on_to_the_next_writer_alone = "
    BC listen
    A acquire w
    B acquire w
    C acquire r
    A end w             | handed            | B+ b, queue C
    A end w             | another           | same"

writer_that_also_queues_is_not_served_again = "
    for ticket in 1, now+1d
    AB listen
    A acquire w
    B acquire r
    A enters $ticket
    A end w             | handed            | inside B, queue -"

writer_waits_for_readers_as_for_any_holder = "
    A acquire r         | held a
    W acquire w         | waits 1 shared 60s | shared+ a
    P acquire           | waits 2           | inside A, queue WP"
}
