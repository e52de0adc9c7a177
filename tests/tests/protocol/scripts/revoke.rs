//! `revoke`: a lock is taken from its holder in favour of the queue.

use super::transcript::transcripts;

transcripts! { Lock;
lock_without_waiters_is_freed_and_its_holder_told = "
    A listen
    A acquire           | held a
    revoke a            | freed             | free, notified A
    B acquire           | held b            | B b"

lock_goes_to_the_head_of_the_queue = "
    A acquire           | held a
    BC listen
    BC acquire
    revoke a            | handed            | B+ b, claim, fence b, queue C, told B, untold C
    # Sent twice, it finds B.
    revoke a            | another           | same"

dead_waiters_are_dropped_and_unreachable_ones_stay = "
    A acquire           | held a
    B listen
    BC acquire
    B dies
    revoke a            | freed             | free, queue C
    C acquire           | held c"

turns_of_a_grant_name_it_and_no_others = "
    for turn in +15, +0
    A acquire           | held a
    revoke a-1          | another           | same
    revoke a+16         | another           | same
    revoke a$turn       | freed             | free"

free_lock_stays_as_it_is = "
    revoke 17           | absent            | same
    A acquire           | held a
    B acquire
    expire
    revoke a            | absent            | same"

tokens_rise_although_the_fence_was_lost_and_the_clock_is_behind = "
    # A token of a clock that was an hour ahead.
    pass 3600s
    A acquire           | held a
    back 3600s
    lose F
    revoke a            | freed             | fence a, remembered
    B acquire           | held b"

next_holders_token_rises_although_the_fence_was_lost_and_the_clock_is_behind = "
    pass 3600s
    A acquire           | held a
    back 3600s
    B listen
    B acquire
    lose F
    revoke a            | handed            | B b, fence b"

all_that_share_a_lock_lose_it = "
    ABW listen
    AB acquire r        | held a
    W acquire w         | waits 1
    revoke a            | handed            | W w, told W, notified A, notified B, without R
    A renew r           | nil               | same"

waiting_readers_go_in_together = "
    W acquire w         | held w
    AB listen
    AB acquire r
    revoke w            | handed            | shared s, inside AB, queue -"

shared_lock_whose_shares_were_lost_is_revoked = "
    A acquire r         | held a
    lose R
    revoke a            | freed             | free"

reserved_lock_is_revoked_and_no_owner_told = "
    A listen
    A acquire           | held a
    A reserve
    revoke a            | freed             | free, untold A"

foreign_record_is_compared_whole = "
    for text shown length other in _ _ 0 1, secret secret 6 7, x{600} x{512} 600 601
    set K '$text'
    revoke 'other' 5        | another       | same
    revoke '$shown' $other  | another       | same
    revoke '$shown' -1      | another       | same
    revoke 17               | another       | same
    revoke '$shown' $length | freed         | free"

record_of_this_crate_is_not_taken_for_a_foreign_one = "
    set K 'A{22}~1{16}~host-A'
    revoke 'A{22}~1{16}~host-A' 46 | another | same"

forged_token_beyond_the_bound_is_refused = "
    set K 'A{22}~9007199254740990~host-A'
    revoke 9007199254740990 | refused LOCKFENCE"

revoked_holder_can_neither_renew_nor_release = "
    A acquire           | held a
    revoke a            | freed
    B acquire           | held b
    A renew             | nil               | same
    A release           | another           | same
    A end               | another           | B b"
}
