//! Shares, plain locks and other programs at the same key; and a holder that becomes a reader.

use super::transcripts;

transcripts! { Lock;
share_of_a_lock_that_another_program_took_is_gone = "
    A acquire r
    set K 'stranger' 60s
    A renew r           | nil               | same
    A release r         | another           | same
    A end r             | another           | same"

reader_that_lapsed_does_not_become_one_again = "
    A acquire w
    A downgrade 2s      | held              | inside A
    B acquire r 60s     | held              | inside AB
    pass 3s
    A downgrade         | nil               | same"
}

/// What any program sees of a shared lock.
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
