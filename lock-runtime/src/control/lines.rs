// The safety lines that tests remove, one at a time. Their names are in `is_removed!`, and in scripts in comments at the end
// of the line. Behind each: what is missing without it, and what must notice. That is either rows of the fault table, played
// by `tests/control/run`, with the beginning of the violation that each of them must report. Or, for a line in a file that
// `tests/model` shares, a configuration of the model, in seconds, and the rule that is broken there.
//
// `control.rs` makes the names of it, the test harness the table, and the tests of the model their part.
safety_lines! {
    check_after_a_poll:
        "the check of the lease after a poll that left the body asleep",
        [body_blocks_past_its_lease], "unexpected: the body is dropped";
    check_before_the_hand_over:
        "the check of the lease before its caller gets it",
        [caller_polled_late], "double entry";
    confirmation_of_a_grant:
        "the confirmation of a grant: a waiter enters when a message says that it was served",
        model "walk", "no holder relies on the lock for longer than the server keeps it";
    hold_for_absent_keys:
        "the check that no other owner has the node on which a holder writes its record again",
        [quorum_key_deleted], "unexpected: the node was taken from its owner";
    lapsed_shares_taken_off:
        "the end of lapsed shares, while others go on",
        [permit_holder_killed], "unexpected: not granted";
    lease_from_before_the_acquire:
        "the time before the request of an acquire: its lease counts from the answer",
        [reply_slow], "double entry";
    lease_from_before_the_renewal:
        "the time before the request of a renewal: its lease counts from the answer",
        [renewal_slow], "double entry";
    more_than_half:
        "one node more than half of them: half are enough",
        model "walk, quorum", "no holder relies on the lock for longer than a majority keeps it";
    order_of_keys:
        "the order of several locks: each caller takes them in the order of its call",
        [keys_in_opposite_orders], "unexpected: not granted";
    owner_compare_on_end:
        "the owner compare of the end of an owner that may queue",
        [acquire_dropped], "unexpected: held";
    owner_compare_on_keys:
        "the owner compare of a renewal of several locks",
        [one_of_two_locks_deleted], "unexpected: no word of the server within";
    owner_compare_on_mint:
        "the owner compare of the command that asks for a token",
        [token_after_a_loss], "unexpected: a token without the lock";
    owner_compare_on_release:
        "the owner compare of a release",
        [holder_paused], "unexpected: the new holder was touched";
    owner_compare_on_renewal:
        "the owner compare of a renewal",
        [lock_deleted], "unexpected: no word of the server within";
    owner_of_a_message:
        "the check that the owner in a message is one that this client ended a moment ago",
        [message_forged], "double entry";
    redisson_owner_compare_on_release:
        "the owner compare of a release in Redisson's record",
        [redisson_forced_unlock], "unexpected: the new holder was touched";
    redisson_owner_compare_on_renewal:
        "the owner compare of a renewal in Redisson's record",
        [redisson_forced_unlock], "unexpected: no word of the server within";
    renewal_after_a_move:
        "the renewal of leases that were confirmed on a connection that is gone",
        [name_moves, renewal_not_replicated], "double entry";
    restart_delay:
        "the time in which a node that may have lost data gives nothing",
        [quorum_node_wiped, quorum_minority_wiped, quorum_old_data, quorum_clock_late_at_a_restart], "double entry";
    retained_after_a_move:
        "the end of a retained lease with its connection, and the check before a caller takes it",
        [name_moves_while_retained], "double entry";
    same_owner_for_each_attempt:
        "the owner of an acquire that is repeated: each attempt has a new one, and the old ones are not ended",
        model "walk", "nothing is left of a forgotten owner";
    sentinels_epoch_compared:
        "the compare of the sentinels' epochs: a server that says that it is the primary is believed",
        [sentinels_stale], "double entry";
    share_limit_compared:
        "the compare of the permits that are taken with the limit",
        [permit_holder_killed], "double entry";
    share_owner_compared:
        "the owner compare of a share",
        [lock_deleted_under_readers], "unexpected: the new holder was touched";
    share_raises_the_lock:
        "the expiry of the lock that rises with that of a share",
        [reader_killed], "double entry";
    token_of_a_lost_yield:
        "the compare of a token with that of a command which gave the node away and was not answered",
        model "quorum, a break and a poll", "no holder relies on the lock for longer than a majority keeps it";
    token_of_a_revocation:
        "the check that a lock which is to be revoked still has the holder that the operator saw",
        [revoked_twice], "unexpected: the new holder was touched";
    token_of_a_yield:
        "the compare of the token that a command names which gives a node away",
        [quorum_yield_late], "double entry";
    token_written_back:
        "the write of the largest token to a majority: each node keeps its own",
        model "walk, quorum of five", "a holder has a token above those of all holders before it";
    ttl_of_the_successor:
        "the compare of the ttl that the successor was named with: another caller of its client takes the lease",
        model "walk, local queues", "no holder relies on the lock for longer than the server keeps it";
    vote_under_a_yield:
        "the check that no command is under way which gives the node away",
        model "walk, quorum", "no holder relies on the lock for longer than a majority keeps it";
}
