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

/// Its queue is the queue from before the restart.
node_without_a_vote_hands_nothing_off = "
    for loss in lose_M, boot_boot-2
    for end in end, revoked_a+16
    B listen
    A acquire 0         | held a
    B acquire 10
    $loss
    A $end              | freed             | free, queue B"

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
