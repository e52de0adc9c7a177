//! `end`, a release of a contended lock and of a waiter that gives up; `hold`, the renewal of a holder that a majority
//! has confirmed; and `revoke`, in favour of the node's queue.

use super::transcripts;

transcripts! { Node;
/// The last two are ahead of the clock, also for a client with a short delay.
proposal_of_no_use_does_not_keep_the_lock = "
    for proposal in '0', 'x', '', '=9999999999999999', '9999999999999999'
    B listen
    A acquire 0         | held a
    B acquire 10
    A end p=$proposal   | handed            | B a+16"

guess_far_ahead_is_ignored_by_the_delay = "
    B listen
    A acquire 0         | held a
    B acquire 10
    delay 400
    A end p=zero+500000 | handed            | B a+16"

dead_waiter_is_dropped_and_deaf_one_skipped = "
    BD listen
    A acquire 0
    B acquire 10
    C acquire 20
    D acquire 30
    E acquire 40
    B dies
    A end               | handed            | D+ d, queue CE"

lock_with_unreachable_waiters_is_freed_for_their_polls = "
    A acquire 0
    B acquire 10
    C acquire 20
    B dies
    A end               | freed             | free, queue C"

/// As after a restart with old records.
holder_that_also_queues_leaves_and_is_not_served_again = "
    AB listen
    B acquire 0
    A acquire 10
    C acquire 20
    set K 'A{22}+1{16}~host-A'
    # C is deaf.
    A end               | freed             | queue C"

revoked_lock_without_waiters_is_freed_and_its_owner_told = "
    A listen
    A acquire 0         | held a
    A revoked a+16      | freed             | free, notified A
    B acquire 10        | held a+16"

revoked_lock_goes_to_the_best_stamp_with_the_token_of_all_nodes = "
    BC listen
    A acquire 0
    C acquire 20
    B acquire 10
    # Far ahead of the node's clock: it was read on another one.
    A revoked zero+1h   | handed            | B+ zero+1h, fence zero+1h, claim, told B
    A revoked zero+1h   | another           | same"

token_after_a_revocation_is_higher_although_the_fence_was_lost = "
    A acquire 0
    lose F
    A revoked zero+1h   | freed
    B acquire 10        | held zero+1h"

revoke_drops_dead_waiters_and_keeps_deaf_ones = "
    A acquire 0         | held a
    B acquire 10
    C acquire 20
    B dies
    A revoked a+16      | freed             | free, queue C"

revoke_leaves_a_free_lock_and_that_of_another = "
    A revoked 17        | absent            | same
    B acquire 0
    A revoked 17        | another           | same
    set K 'random'
    revoke 'randoM' 6   | another           | same
    revoke 'random' 7   | another           | same
    revoke 'rando' 5    | another           | same
    revoke '' 0         | another           | same
    revoke 'random' 6   | freed             | free"

revoke_with_a_token_beyond_the_bound_is_refused = "
    A acquire 0
    A revoked 9007199254740990 | refused LOCKFENCE"
}
