//! `acquire` on a free lock, on the caller's own, on a taken one and on a foreign one; `renew` and `release`.

use super::transcript::transcripts;

transcripts! { Lock;
free_lock_is_taken_by_its_first_caller_whether_it_queues_or_not = "
    for acquire in acquire, try
    A $acquire          | held a            | A a, fence a, fence now, 60s, queue -
    # Sent twice, it answers the same token.
    A acquire           | held a            | A a, 60s
    A try               | held a            | fence a
    # An own lock gets the ttl that is asked for, and one whose expiry was taken away gets it back.
    A acquire 120s      | held a            | 120s
    A acquire 5s        | held a            | 5s
    persist K
    A acquire           | held a            | 60s"

taken_lock_answers_its_rest_its_value_and_a_place = "
    A acquire           | held a            | 60s
    pass 1s
    B try               | waits 0 A 59s uncounted | same
    B acquire           | waits 1 A 59s uncounted | A+ a, 59s, queue B, entry B -, ticket B now
    # The holder learns of the flag from its next message of any kind.
    A acquire           | held+ a
    # A poll heals the flag.
    unflag
    B acquire           | waits 1           | A+ a"

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

expired_lease_is_free = "
    A acquire           | held a
    expire
    A renew             | nil               | same
    A release           | absent            | same
    A reserve           | another           | same
    B acquire           | held b            | B b"

renewal_lengthens_a_lease_and_never_shortens_it = "
    A acquire           | held a
    A renew 120s        | held a            | 120s
    A renew 1ms         | held a            | 120s
    persist K
    A renew             | held a            | 60s
    B acquire           | waits 1
    A renew 120s        | held+ a           | 120s
    B renew 180s        | nil               | A+ a, 120s"

renewal_confirms_a_grant = "
    A acquire
    B listen
    B acquire
    A end               | handed            | B b, claim
    B renew             | held b            | B b, 60s"

release_frees_an_uncontended_lock_of_the_owner = "
    A acquire           | held a
    B release           | another           | same
    A release           | freed             | free, fence a
    A release           | absent            | same
    A acquire
    B acquire
    # A contended lock stays for `end`.
    A release           | contended         | same"
}

/// The command that a client sends instead of the script to a server that has such a command.
mod deletion {
    use super::super::transcript::{Kind, play, pooled};
    use harness::deletion;

    #[test]
    fn deletion_command_frees_only_an_uncontended_lock_of_the_owner() {
        if deletion(&mut pooled().connection()).is_none() {
            return;
        }
        let text = "
            A acquire
            B delete            | another           | same
            A delete other      | another           | same
            A delete            | freed             | free
            A acquire
            B acquire
            A delete            | another           | same";
        play(Kind::Lock, "deletion", text);
    }
}
