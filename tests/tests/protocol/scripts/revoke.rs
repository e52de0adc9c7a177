//! `revoke`: a lock is taken from its holder in favour of the queue.

use super::transcript::transcripts;

transcripts! { Lock;
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
