//! Shares beside plain locks and other programs; and a holder that becomes a reader.

use super::transcripts;

transcripts! { Lock;
share_of_a_lock_that_another_program_took_is_gone = "
    A acquire r
    set K 'stranger' 60s
    A renew r           | nil               | same
    A release r         | another           | same
    A end r             | another           | same"

plain_scripts_leave_a_shared_lock_alone = "
    A acquire r
    A try               | waits 0 shared    | same
    A renew 120s        | nil               | same
    A release           | another           | same
    A end               | another           | inside A"

plain_end_grants_the_lock_to_a_reader_whose_confirmation_begins_a_phase = "
    BCD listen
    A acquire
    BCD acquire 1/2
    A end               | handed            | B+ b, claim
    B acquire 1/2       | held+ b           | shared+ b, inside BC, queue D, 60s
    B acquire 1/2       | held+ b           | same"

plain_acquire_grants_an_expired_lock_to_a_reader = "
    BC listen
    A acquire
    BC acquire r
    expire
    P acquire           | waits 2 B         | B+ b
    B acquire r         | held+ b           | inside BC, queue P"

plain_end_with_a_successor_lets_the_reader_before_it_in = "
    BN listen
    A acquire
    B acquire r
    A end next N        | handed            | B+ b
    B acquire r         | held+ b
    N acquire           | waits 1
    B end r             | handed            | N n"

holder_becomes_a_reader_with_a_higher_token = "
    BCD listen
    A acquire w         | held a
    BC acquire r
    D acquire w
    # Its turns have used tokens.
    A downgrade         | held+ r           | shared+ r, fence r, inside ABC, queue D
    A downgrade         | held+ r           | inside ABC
    # What is late of the lock that it held finds nothing.
    A renew             | nil               | same
    A release           | another           | same
    A end w             | freed             | inside BC"

holder_that_becomes_a_reader_keeps_nothing_of_an_earlier_phase = "
    X acquire 5/9 120s
    expire
    A acquire w
    A downgrade         | held              | inside A"

holder_that_lost_the_lock_becomes_no_reader = "
    A acquire w
    lose K
    A downgrade         | nil               | same
    B acquire w
    A downgrade         | nil               | same
    B end w
    A downgrade         | nil               | same
    C acquire r
    A downgrade         | nil               | same"

reader_that_lapsed_does_not_become_one_again = "
    A acquire w
    A downgrade 2s      | held              | inside A
    B acquire r 60s     | held              | inside AB
    pass 3s
    A downgrade         | nil               | same"
}

/// What any program sees of a lock that is shared.
#[test]
fn shared_lock_is_taken_for_other_programs() {
    use crate::scripts::{TTL, transcript::pooled};
    use harness::{READ, RawLock};
    let server = pooled();
    let mut lock = RawLock::new(&server, "order:42");
    lock.share('A', READ, TTL).unwrap().token();
    let k = lock.k.clone();
    let take = ["SET", &k, "stranger", "NX", "PX", "1000"];
    assert_eq!(lock.command::<Option<String>>(&take), None);
    lock.release_share('A', READ).unwrap();
    assert!(lock.command::<Option<String>>(&take).is_some());
}
