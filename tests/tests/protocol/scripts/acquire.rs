//! `acquire` of a foreign lock, and `renew`.

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

renewal_lengthens_a_lease_and_never_shortens_it = "
    A acquire           | held a
    A renew 120s        | held a            | 120s
    A renew 1ms         | held a            | 120s
    persist K
    A renew             | held a            | 60s
    B acquire           | waits 1
    A renew 120s        | held+ a           | 120s
    B renew 180s        | nil               | A+ a, 120s"
}
