//! M: after a loss of data a node grants nothing until clients have measured the delay, a hundredth of it, and 2 ms.

use super::transcripts;

transcripts! { Node;
node_that_may_have_lost_data_gives_nothing = "
    for lock in pass_1ms, set_K_'stranger', A_acquire_0
    for loss in lose_M, boot_boot-2, boot_boot-, boot_boot-11, boot_-, set_M_'boot-1', set_M_'boot-1~60000~a', set_M_'boot-1~60000~a~x', set_M_'boot-1~60000~~5'
    $lock
    $loss
    A acquire 0         | early 60602ms     | same
    B try 0             | early 60602ms     | same
    A yield 5 0         | early 60602ms     | same
    A renew
    mark                | early 60602ms
    A acquire 0         | early 60602ms     | same
    B try 0             | early 60602ms     | same
    A yield 5 0         | early 60602ms     | same"

mark_begins_the_count_of_a_node_that_may_have_lost_data = "
    for loss boot in lose_M boot-1, boot_boot-2 boot-2, boot_- -, set_M_'boot-1~60000~a~x' boot-1
    $loss
    mark                | early 60602ms     | marker '$boot~60000~new~0', expiry M never
    mark                | early 60602ms     | same"

mark_leaves_a_node_that_votes_alone = "
    mark                | votes             | same
    mark new 5s         | votes             | same
    A acquire 0         | held now"

node_votes_when_clients_have_measured_the_delay = "
    lose M
    mark                | early 60602ms
    mark new 20s        | early 40602ms     | marker 'boot-1~60000~new~20000', expiry M never
    # Another client has measured less.
    mark new 10s        | early 40602ms     | same
    A acquire 0         | early 40602ms     | same
    mark new 60601ms    | early 1ms
    A acquire 0         | early 1ms         | same
    mark new 60602ms    | votes             | marker 'boot-1~60000', expiry M never
    A acquire 0         | held now"

what_was_measured_of_another_count_is_ignored = "
    for loss in lose_M, boot_boot-2
    $loss
    mark old 61s        | early 60602ms
    mark old 61s        | early 60602ms     | same
    mark '' 61s         | early 60602ms     | same"

clock_of_the_server_ends_no_delay = "
    lose M
    back 3600s
    mark                | early 60602ms
    pass 3600s
    A acquire 0         | early 60602ms     | same
    mark                | early 60602ms     | same
    pass 86400s
    mark new 1s         | early 59602ms
    A acquire 0         | early 59602ms     | same
    back 86400s
    mark new 61s        | votes
    A acquire 0         | held now
    # Nor does it begin one.
    back 30s
    A acquire 0         | held
    pass 30s"

node_without_a_vote_has_a_holders_record_written_again = "
    for loss in lose_M, boot_boot-2
    $loss
    A hold zero+1s      | held zero+1s      | A zero+1s, fence zero+1s
    A acquire 0         | early 60602ms     | same
    A renew             | held zero+1s
    A end               | freed             | free"

/// Its queue is the queue from before the restart.
node_without_a_vote_hands_nothing_off = "
    for loss in lose_M, boot_boot-2
    for end in end, revoked_a+16
    B listen
    A acquire 0         | held a
    B acquire 10
    $loss
    A $end              | freed             | free, queue B"

without_delay_a_node_votes_at_once = "
    delay 0
    for loss in lose_M, boot_boot-2
    $loss
    A acquire 0         | held now
    mark                | votes
    A acquire 0         | held"

another_delay_is_refused_by_both_names = "
    for lock in pass_1ms, A_acquire_0
    for boot in boot-1, boot-2
    $lock
    boot $boot
    disagree 30000
    A acquire 0         | refused LOCKDELAY 60000 30000
    A yield 5 0         | refused LOCKDELAY 60000 30000
    A hold 5            | refused LOCKDELAY 60000 30000
    mark                | refused LOCKDELAY 60000 30000"

/// K must not stay.
owner_with_another_delay_is_ended = "
    B listen
    A acquire 0         | held a
    B acquire 10
    disagree 30000
    A end               | freed             | free, queue B"
}
