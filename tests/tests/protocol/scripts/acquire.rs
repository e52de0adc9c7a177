//! `acquire` of a foreign lock, `renew`, and `reserve` while the clock is set back.

use super::transcript::transcripts;

transcripts! { Lock;
foreign_value_is_never_touched = "
    # The last four are one character off: the flag, a digit, the space before the label, the length.
    for value in d9b5b2a0-6a41, _, X{22}x1{16}~host-X, X{22}~1{15}x~host-X, X{22}~1{16}host-X, X{22}~1{16}
    set K '$value' 60s
    B acquire           | waits 1 60s       | '$value', queue B
    B try               | waits 1 60s       | same
    B renew             | nil               | same
    B release           | another           | same
    B reserve           | another           | same"

large_foreign_value_is_answered_by_its_beginning = "
    set K 'x{1048576}'
    A acquire           | waits 1 holder=x{512} | 'x{1048576}'
    B try               | waits 0 holder=x{512}"

foreign_lock_without_expiry_waits_for_ever = "
    set K 'foreign'
    BC acquire          | waits foreign forever | 'foreign', forever
    D try               | waits 0 forever"

renewal_lengthens_a_lease_and_never_shortens_it = "
    A acquire           | held a
    A renew 120s        | held a            | 120s
    A renew 1ms         | held a            | 120s
    persist K
    A renew             | held a            | 60s
    B acquire           | waits 1
    A renew 120s        | held+ a           | 120s
    B renew 180s        | nil               | A+ a, 120s"

lock_stays_reserved_longer_by_as_much_as_the_clock_is_set_back = "
    A acquire           | held a
    A reserve 180s      | reserved          | 180s
    back 60s
    B acquire           | waits 1 rested    | reserved+ a, 240s"
}
