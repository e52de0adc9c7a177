// The safety lines that tests remove, one at a time. `is_removed!` has their names, and in scripts a comment at the end of
// the line. Each name is followed by the missing part, and by the tests that must notice. These are either rows of the fault
// table, which `tests/control/run` plays, with the beginning of the violation that each of them must report. Or, for a line
// in a file that `tests/model` shares, a configuration of the model, which takes seconds, and the rule that breaks.
//
// `control.rs` turns this into an enum, the test harness into a table, and the model's tests take their part.
safety_lines! {
    check_after_a_poll:
        "the check of the lease after a poll that left the body pending",
        [body_blocks_past_its_lease], "unexpected: the call fails";
    check_before_the_hand_over:
        "the check of the lease before its caller gets it",
        [caller_polled_late], "double entry";
    confirmation_of_a_grant:
        "the confirmation of a grant: a waiter enters as soon as a message names it",
        model "walk", "no holder relies on the lock for longer than the server keeps it";
    hold_for_absent_keys:
        "the check that no other owner has the node on which a holder restores its record",
        [quorum_key_deleted], "unexpected: the node was taken from its owner";
    lapsed_shares_taken_off:
        "the removal of expired shares while other shares are held",
        [permit_holder_killed], "unexpected: not granted";
    lease_from_before_the_acquire:
        "the start of a lease before its request is sent: it counts from the answer",
        [reply_slow], "double entry";
    lease_from_before_the_renewal:
        "the start of a renewed lease before the renewal is sent: it counts from the answer",
        [renewal_slow], "double entry";
    more_than_half:
        "the majority: half of the nodes are enough",
        model "walk, quorum", "no holder relies on the lock for longer than a majority keeps it";
    order_of_keys:
        "the common order of several locks: each call takes them in the order in which it names them",
        [keys_in_opposite_orders], "unexpected: not granted";
    owner_compare_on_end:
        "the owner check when an acquisition that may have queued is ended",
        [acquire_dropped], "unexpected: held";
    owner_compare_on_keys:
        "the owner check in a renewal of several locks",
        [one_of_two_locks_deleted], "unexpected: no report of the loss within";
    owner_compare_on_mint:
        "the owner check in the command that asks for a token",
        [token_after_a_loss], "unexpected: a token without the lock";
    owner_compare_on_release:
        "the owner check in a release",
        [holder_paused], "unexpected: the new holder was affected";
    owner_compare_on_renewal:
        "the owner check in a renewal",
        [lock_deleted], "unexpected: no report of the loss within";
    owner_of_a_message:
        "the check that a message names an owner that this client has just ended",
        [message_forged], "double entry";
    redisson_owner_compare_on_release:
        "the owner check in a release of Redisson's record",
        [redisson_forced_unlock], "unexpected: the new holder was affected";
    redisson_owner_compare_on_renewal:
        "the owner check in a renewal of Redisson's record",
        [redisson_forced_unlock], "unexpected: no report of the loss within";
    renewal_after_a_move:
        "the immediate renewal of leases that were confirmed on a broken connection",
        [name_moves, renewal_not_replicated], "double entry";
    restart_delay:
        "the restart delay: a node that may have lost data votes at once",
        [quorum_node_wiped, quorum_minority_wiped, quorum_old_data, quorum_clock_late_at_a_restart], "double entry";
    retained_after_a_move:
        "the end of a retained lease when its connection breaks, and the check before a caller takes it over",
        [name_moves_while_retained], "double entry";
    same_owner_for_each_attempt:
        "the single owner of an acquisition: each attempt has a new owner, and the old ones are not ended",
        model "walk", "nothing is left of a forgotten owner";
    sentinels_epoch_compared:
        "the comparison of the sentinels' epochs: any server that claims to be the primary is trusted",
        [sentinels_stale], "double entry";
    share_limit_compared:
        "the comparison of the taken permits with the limit",
        [permit_holder_killed], "double entry";
    share_owner_compared:
        "the owner check of a share",
        [lock_deleted_under_readers], "unexpected: the new holder was affected";
    share_raises_the_lock:
        "the expiry of the lock that follows its last share",
        [reader_killed], "double entry";
    token_of_a_lost_yield:
        "the comparison with the token of a command that yields a node and was not answered",
        model "quorum, a break and a poll", "no holder relies on the lock for longer than a majority keeps it";
    token_of_a_revocation:
        "the check, before a revocation, that the lock still has the holder that the operator saw",
        [revoked_twice], "unexpected: the new holder was affected";
    token_of_a_yield:
        "the token check in the command that yields a node",
        [quorum_yield_late], "double entry";
    token_of_the_grant:
        "the time of the grant in the command that asks for a token: it mints the present time",
        [name_moves_before_a_token, cluster_primary_cut_off_before_a_token, sentinel_failover_before_a_token],
        "unexpected: a late token is above the next holder's";
    token_written_back:
        "the write of the largest token back to a majority: each node keeps its own",
        model "walk, quorum of five", "a holder has a higher token than all earlier holders";
    ttl_of_the_successor:
        "the check that a caller asks for the ttl of the successor that it takes over",
        model "walk, local queues", "no holder relies on the lock for longer than the server keeps it";
    vote_under_a_yield:
        "the rule that a node does not count while a command that yields it is in flight",
        model "walk, quorum", "no holder relies on the lock for longer than a majority keeps it";
}
