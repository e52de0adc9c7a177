//! Which owner gets a free lock: the best live one among the queue and the caller.

use super::transcripts;

transcripts! { Node;
caller_with_the_same_stamp_is_compared_by_its_entry = "
    for caller holder in A A, C B, a B
    X acquire 0
    B listen
    B acquire 10
    expire
    $caller acquire 10  |                   | $holder+ t"

entry_without_heartbeat_is_dropped = "
    A acquire 0
    B listen
    B acquire 10
    leave BBBBBBBBBBBBBBBBBBBBBB
    expire
    C acquire 20        | held              | queue -"

waiter_whose_process_is_not_subscribed_is_skipped_and_kept = "
    A acquire 0
    C listen
    B acquire 10
    C acquire 20
    expire
    D acquire 30        | waits 2 C         | queue BD
    expire
    D acquire 30        | held+             | queue B"

silent_waiter_is_asked_for_and_not_taken_for_a_monitor = "
    A acquire 0
    monitor
    B acquire 10
    expire
    # Its last poll was two seconds ago.
    pass 2s
    C acquire 20        | held+             | queue B"

one_script_checks_128_waiters = "
    fill 200
    A acquire 0         | held+             | members 72, first 'waiter~00128'"
}
