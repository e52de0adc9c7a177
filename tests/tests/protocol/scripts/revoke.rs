//! `revoke`: a lock is taken from its holder in favour of the queue.

use super::transcript::transcripts;

transcripts! { Lock;
tokens_rise_although_the_fence_was_lost_and_the_clock_is_behind = "
    # A token of a clock that was an hour ahead.
    pass 3600s
    A acquire           | held a
    back 3600s
    lose F
    revoke a            | freed             | fence a, remembered
    C listen
    BC acquire
    lose F
    revoke a+16         | handed            | C a+32, fence a+32"

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
}
