//! `share_acquire` where no waiter queues, `share_renew` and `share_release`.

use super::transcripts;

transcripts! { Lock;
share_begun_beside_an_old_fence_counts_on_from_it = "
    set F zero+1h
    A acquire r         | held zero+3600000016 | inside A
    # Of a phase that is ahead of the clock, the age is none.
    W try w             | waits 0 counted=1:1:0s"

foreign_lock_makes_a_share_wait_and_stays_as_it_is = "
    set K 'x{4096}'
    B acquire r         | waits 1 holder=x{512} forever | 'x{4096}'
    B renew r           | nil               | same
    B release r         | another           | same"

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
    B release r         | freed             | free"
}
