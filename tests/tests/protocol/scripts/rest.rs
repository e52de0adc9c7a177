//! `rest`, of one lock and of several.

use super::transcript::transcripts;

transcripts! { Lock;
lock_at_rest_has_no_owner_and_a_new_expiry = "
    for ms in 180s, 30s
    A acquire           | held a
    B acquire
    A rest $ms          | reserved          | reserved+ a, $ms, fence a, queue B, label host-A"

rest_without_an_expiry_restores_one = "
    A acquire           | held a
    persist K
    A rest 180s         | reserved          | reserved a, 180s"

no_late_command_of_the_owner_finds_the_lock_its_own = "
    A acquire           | held a
    A rest 180s         | reserved
    A rest              | another           | same
    A renew 300s        | nil               | same
    A release           | another           | same
    A end               | another           | same
    A try               | waits 0 rested    | same
    # One that queues leaves the queue by the end that follows it.
    A acquire           | waits 1 rested
    A end               | left              | reserved+ a, 180s"

lock_stays_at_rest_longer_by_as_much_as_the_clock_is_set_back = "
    A acquire           | held a
    A rest 180s         | reserved          | 180s
    back 60s
    B acquire           | waits 1 rested    | reserved+ a, 240s"

rest_leaves_the_lock_of_another = "
    A rest              | another           | same
    B acquire
    A rest              | another           | same
    set K 'A{21}'
    A rest              | another           | same"

waiters_of_every_kind_queue_behind_a_lock_at_rest_and_are_served_when_it_is_over = "
    BCD listen
    A acquire           | held a
    A rest 180s
    B acquire           | waits 1 rested
    C acquire r         | waits 2 rested uncounted
    D acquire 1/3       | waits 3 rested    | reserved+ a
    expire
    B acquire           | held+ b           | B+ b"

lock_that_was_granted_to_a_share_rests_as_any_other = "
    B listen
    A acquire
    B acquire r
    A end               | handed
    B rest              | reserved          | 60s"

phase_of_shares_does_not_rest = "
    A acquire r
    A rest              | another           | same"
}

/// Of several locks.
mod several {
    use super::transcripts;

    transcripts! { Locks;
    several_locks_rest_together = "
        A acquire all       | held a
        B acquire @2        | waits 1
        A rest all 180s     | reserved      | @1 reserved a, @2 reserved+ a, @3 reserved a, each 180s
        A rest all          | another       | same
        A renew all         | nil           | same
        A release all       | absent        | same
        A end all           | absent        | same"

    lock_that_was_lost_does_not_keep_the_others_from_being_reserved = "
        for lost one other in 1 2 3, 2 3 1, 3 1 2
        for then in B_acquire, X_release
        A acquire all       | held a
        expire @$lost
        $then @$lost
        A rest all 180s     | another       | @$one reserved a, @$other reserved a, @$one 180s, @$other 180s"
    }
}
