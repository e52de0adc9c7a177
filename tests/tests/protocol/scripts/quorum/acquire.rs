//! `acquire` of a free lock, the caller's own, a taken one and a foreign one; the stamps of its queue, and its messages.

use super::transcripts;

transcripts! { Node;
own_lease_is_raised_and_never_lowered = "
    A acquire 0         | held a
    A acquire 0 180s    | held a            | 180s
    A acquire 0         | held a            | 180s
    A acquire 0 240s    | held a            | 240s
    persist K
    A acquire 0         | held a            | 60s
    # The same by `hold`, which names a token that is not that of K.
    A hold a+99 120s    | held a            | A a, 120s, fence a
    A hold a+99         | held a            | 120s
    persist K
    A hold a            | held a            | 60s"

foreign_value_is_never_modified = "
    # The last four are one character off: the flag, a digit, the space before the label, the length.
    for value in d9b5b2a0-6a41, _, X{22}x1{16}~host-X, X{22}~1{15}x~host-X, X{22}~1{16}host-X, X{22}~1{16}, x{4096}
    set K '$value'
    B acquire 0         | waits 1 forever   | '$value', queue B"

large_foreign_value_is_answered_by_its_beginning = "
    set K 'x{1048576}'
    B acquire 0         | waits 1 holder=x{512} | 'x{1048576}'"

full_queue_takes_no_owner_in = "
    A acquire 0
    fill 16383
    B acquire 0         | waits 16384
    C acquire 0         | refused LOCKQUEUEFULL
    B acquire 0         | waits 16384 A
    C try 0             | waits 0 A
    # A free lock goes to the first live waiter all the same.
    expire
    D listen
    D enters 0
    C acquire 0         | fails LOCKQUEUEFULL | D+ d, told D"

waiters_with_one_stamp_queue_by_their_entries = "
    A acquire 0
    C acquire 5         | waits 1
    B acquire 5         | waits 1
    # Bytes count, and not the alphabet of some language.
    a acquire 5         | waits 3
    C acquire 5         | waits 2           | queue BCa"

stamp_far_off_the_clock_becomes_the_time = "
    for stamp seen in -86399s -86399s, -86401s now, +990000 990000, +1010000 now, +3600s now
    A acquire 0
    B acquire $stamp    | waits 1           | stamp B $seen"

flag_that_was_lost_is_set_with_a_message = "
    ABCM listen
    M acquire 50
    A acquire 10        |                   | tells M
    unflag
    A acquire 10        |                   | tells M"

foreign_owner_is_told_nothing = "
    for value in stranger, X{22}+1{15}x~host-X
    ABX listen
    set K '$value'
    A acquire 10        |                   | tells -
    B acquire 5         |                   | tells -"
}
