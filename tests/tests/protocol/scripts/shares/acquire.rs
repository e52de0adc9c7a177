//! `share_acquire` where no waiter queues, `share_renew` and `share_release`.

use super::transcripts;

transcripts! { Lock;
first_share_begins_a_phase_and_others_join_with_its_token = "
    A acquire r         | held a            | shared a, fence a, inside A, 60s
    B acquire r         | held a
    C try 3/9           | held a            | inside ABC, sum 5
    C try 3/9           | held a            | shared a, sum 5"

share_sent_twice_counts_once = "
    A acquire 2/5       | held a
    B acquire r         | held a
    AA acquire 2/5      | held a            | inside AB, sum 3"

share_raises_the_expiry_of_the_lock_and_lowers_none = "
    A acquire r
    B acquire r 120s    | held              | inside AB, 120s
    C acquire r         | held              | inside ABC, 120s
    A acquire r 180s    | held              | inside ABC, 180s
    A acquire r         | held              | same"

share_begun_beside_an_old_fence_counts_on_from_it = "
    set F zero+1h
    A acquire r         | held zero+3600000016 | inside A
    # Of a phase that is ahead of the clock, the age is none.
    W try w             | waits 0 counted=1:1:0s"

tokens_rise_from_phase_to_lock_to_phase = "
    A acquire r         | held a
    A release r         | freed
    B acquire           | held b
    B release           | freed
    A acquire r         | held c"

shares_of_a_deleted_lock_do_not_count_in_the_next_phase = "
    A acquire 2/3       | held a
    B acquire r 120s
    expire
    C acquire 3/3       | held c            | shared c, inside C
    B renew r           | nil               | same
    A release 2/3       | another           | same"

lock_held_alone_makes_a_share_wait = "
    A acquire           | held a
    B try r             | waits 0 A 60s uncounted | same
    B acquire r         | waits 1 A 60s uncounted | A+ a, queue B, entry B r"

foreign_lock_makes_a_share_wait_and_stays_as_it_is = "
    set K 'x{4096}'
    B acquire r         | waits 1 holder=x{512} forever | 'x{4096}'
    B renew r           | nil               | same
    B release r         | another           | same"

attempt_without_queueing_writes_nothing_if_the_permits_are_taken = "
    A acquire 2/2       | held
    B try 1/2           | waits 0 shared    | same"

waiter_learns_who_shares_the_lock_and_since_when = "
    A acquire 2/9
    pass 2500ms
    B acquire r
    W try w             | waits 0 shared counted=2:3:2500ms
    P acquire 1/3       | waits 1 shared counted=2:3:2500ms
    # A plain lock names no R.
    X try               | waits 0 shared uncounted"

sum_that_was_lost_lets_nothing_in = "
    A acquire r
    uncount
    B try r             | waits 0 uncounted | same
    A release r         | another           | same
    A end r             | another           | same
    expire
    B acquire r         | held              | inside B
    B release r         | freed             | only F"

writer_does_not_need_the_shares = "
    A acquire r
    spoil R
    W acquire w         | waits 1 shared uncounted"

renewal_raises_the_share_and_the_lock = "
    A acquire r         | held a
    B acquire 2/9       | held a
    B renew 2/9 120s    | held a            | inside AB, 120s, shares A60s
    A renew r 1ms       | held a
    B renew 2/9 1ms     | held a            | inside AB, 120s, shares A60s
    persist K
    A renew r           | held a            | inside AB, 120s
    W acquire           | waits 1
    A renew r           | held+ a           | inside AB"

share_that_is_not_there_is_not_renewed = "
    A renew r           | nil               | same
    A acquire 2/3       | held
    B renew r           | nil               | same
    A renew r           | nil               | same
    A renew 3/3 120s    | nil               | same"

share_that_has_lapsed_is_not_renewed = "
    A acquire r 10s
    B acquire r
    pass 10001ms
    A renew r           | nil               | same
    B renew r           | held              | 60s"

renewal_leaves_a_lock_that_another_owner_holds_alone = "
    A acquire
    B renew r 120s      | nil               | same"

renewal_keeps_a_grant_that_is_not_confirmed = "
    A acquire
    B listen
    B acquire 2/3
    A end               | handed            | B b, claim
    B renew 2/3         | held b            | B b, 60s
    B renew 2/3 1ms     | held b            | 60s"

last_share_that_is_released_frees_the_lock = "
    A acquire r
    B acquire 2/9
    C acquire r
    A release r         | freed             | inside BC, sum 3
    # Sent twice, or with another share, it takes none off.
    A release r         | another           | same
    X release r         | another           | same
    C release 2/9       | another           | same
    C release r         | freed             | inside B, sum 2
    B release 2/9       | freed             | only F
    B release 2/9       | absent            | same"

longest_share_takes_its_time_with_it = "
    A acquire r
    B acquire r 240s
    C acquire r 30s
    B release r         | freed             | inside AC, 60s
    C release r         | freed             | inside A, 60s"

contended_share_stays_for_share_end = "
    AB acquire r
    W acquire
    A release r         | contended         | same
    X release r         | another           | same"

lock_that_is_not_shared_stays = "
    A acquire
    B listen
    B acquire r
    B release r         | another           | same
    A end               | handed            | B b
    # Granted, and not confirmed.
    B release r         | contended         | same
    expire
    B release r         | absent            | same"
}
