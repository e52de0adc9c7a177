//! M: after a loss of data the votes of a node do not count for a while: the delay, a hundredth of it, and 2 ms.

use super::transcripts;

transcripts! { Node;
node_without_marker_is_marked_by_its_first_script = "
    for step in mark, A_acquire_0, A_hold_5, A_try_0
    for lock in pass_1ms, set_K_'stranger'
    lose M
    $lock
    $step               |                   | till now+60602ms, marker 'boot-1~60000~1', expiry M never
    # A marker of this boot stays.
    pass 5s
    mark                | held early=55602ms | same
    A acquire 0         |                   | till now+55602ms"

marker_of_another_boot_is_replaced = "
    for step in mark, A_acquire_0, A_hold_5, A_try_0
    for boot in boot-2, boot-, boot-11, -
    boot $boot
    $step               |                   | till now+60602ms, marker '$boot~60000~1'"

marker_that_is_no_marker_is_replaced = "
    for text in _, boot-1, boot-1~60000, boot-1~60000~x, boot-1~~60000~5
    set M '$text'
    A acquire 0         | held early=60602ms | till now+60602ms"

cede_end_and_releases_do_not_mark = "
    A acquire 0         | held a
    lose M
    A cede a 0          | held a early=60602ms | without M
    B cede a 0          |                   | without M
    A renew             |                   | without M
    B end               |                   | without M
    A end               |                   | without M"

votes_count_from_the_end_of_the_delay = "
    lose M
    A acquire 0         | held a early=60602ms
    pass 20s
    A acquire 0         | held a early=40602ms
    A hold a            | held a early=40602ms
    A cede a 0          | held a early=40602ms
    mark                | held early=40602ms
    pass 42s
    mark                | held
    A acquire 0         | held b
    # A clock that is set back makes votes early again.
    back 32s
    mark                | held early=30602ms
    A acquire 0         | held b early=30602ms
    pass 32s"

without_delay_votes_count_at_once = "
    delay 0
    for step in mark, A_acquire_0
    lose M
    $step               | held              | till now"

another_delay_is_refused_by_both_names = "
    for lock in pass_1ms, A_acquire_0
    for boot in boot-1, boot-2
    $lock
    boot $boot
    disagree 30000
    A acquire 0         | refused LOCKDELAY 60000 30000
    A cede 5 0          | refused LOCKDELAY 60000 30000
    A hold 5            | refused LOCKDELAY 60000 30000
    mark                | refused LOCKDELAY 60000 30000"

token_of_the_delay_is_replaced_once_votes_count = "
    for proposal in '0', a, =a
    lose M
    A acquire 0 120s    | held a early=60602ms
    B acquire 1
    pass 30s
    # Votes do not count yet.
    A acquire 0         | held+ a early=30602ms
    pass 31s
    # A renewal by `hold` keeps it.
    A hold a            | held+ a
    A acquire 0 p=$proposal | held+ now     | A+ now, fence now
    A acquire 0         | held+ b           | A+ b, fence b"

token_of_the_delay_is_replaced_by_the_proposal = "
    lose M
    A acquire 0 120s
    pass 61s
    A acquire 0 p==zero+65s | held zero+65s | fence zero+65s"

token_above_the_delay_stays = "
    lose M
    A acquire 0 120s p==zero+70s | held zero+70s early=60602ms
    pass 61s
    A acquire 0         | held zero+70s"
}

/// What is less than a millisecond counts as one.
#[test]
fn rest_of_the_delay_is_rounded_up() {
    let server = crate::scripts::transcript::pooled();
    let mut node = super::node::Node::new(&server, "order:42");
    let (m, till) = (node.m.clone(), node.zero + 10_500);
    let marker = format!("{} {} {till:016}", node.boot, node.delay);
    let _: () = node.lock.command(&["SET", &m, &marker]);
    let (early, now) = node.mark().unwrap();
    assert_eq!(early, (till - now + 999) / 1_000);
}
