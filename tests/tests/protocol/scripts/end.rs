//! `end`: the release of a contended lock, and a waiter that gives up; without a successor, and with one.

use super::transcript::transcripts;

transcripts! { Lock;
lock_without_waiters_is_freed = "
    X end               | absent            | same
    A acquire           | held a
    A end               | freed             | free, only F, fence a
    A end               | absent            | same"

head_of_the_queue_is_served = "
    A acquire           | held a
    BC listen
    BC acquire
    A end               | handed            | B+ b, claim, fence b, queue C, told B, untold C
    # Sent twice, it finds B's claim and leaves it alone.
    A end               | another           | same
    # The last waiter is served without the flag; and a grant to an owner that gave up is passed on.
    B end               | handed            | C c, claim, queue -, told C"

dead_are_dropped_and_unreachable_ones_skipped = "
    A acquire
    BD listen
    BCDE acquire
    B dies
    A end               | handed            | D+ d, queue CE, told D, untold B"

lock_of_unreachable_waiters_is_freed_for_their_polls = "
    A acquire
    BC acquire
    B dies
    A end               | freed             | free, queue C
    C acquire           | held c"

waiter_leaves_the_queue = "
    A acquire           | held a
    BCD acquire
    B end               | left              | A+ a, queue CD
    B end               | another           | same
    X end               | another           | same
    C acquire           | waits 1
    # It names a successor in vain.
    C end next N        | left              | queue D
    expire
    D end               | left              | free, queue -
    D end               | absent            | same"

/// As a late poll of its own would leave it: before B, and after B.
holder_that_also_queues_is_not_served_again = "
    for ticket in 1, now+1d
    A acquire
    AB listen
    B acquire
    A enters $ticket
    A end               | handed            | B b, queue -"

next_of_a_lock_without_waiters_holds_it_with_its_full_ttl = "
    A acquire           | held a
    A end next N 120s   | held n            | N n, fence n, 120s
    # Sent twice, it returns the same answer, and extends a lease that is shorter.
    A end next N 120s   | held n            | same
    A end next N 180s   | held n            | 180s"

unreachable_waiters_do_not_keep_next_from_the_lock = "
    A acquire
    BC acquire
    B dies
    A end next N        | held+ n           | N+ n, queue C"

next_goes_to_the_tail_behind_waiters = "
    A acquire
    BC listen
    BC acquire
    A end next N        | handed            | B+ b, claim, queue CN, told B, lives N now+6s, expiry Q 7s
    N acquire           | waits 2
    A end next N        | another           | same
    B end               | handed            | C+ c, queue N
    # N does not listen.
    C end               | freed             | free, queue N
    # At the tail of an empty queue it is seen in the flag.
    N acquire           | held n
    B acquire
    N end next M        | handed            | B+ m, queue M"

next_that_queues_already_takes_its_own_turn = "
    A acquire
    B listen
    NB acquire
    A end next N        | held+ n           | N+ n, 60s, queue B"

next_that_queues_beyond_the_walk_leaves_the_queue_with_the_lock = "
    A acquire
    fill 200
    N acquire           | waits 201
    A end next N        | held+ n           | members 72"

lost_lock_gives_next_nothing = "
    A acquire
    expire
    A end next N        | absent            | free
    B acquire
    A end next N        | another           | same"
}
