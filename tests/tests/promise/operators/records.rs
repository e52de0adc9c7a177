//! Records of other programs, and of other types.

use harness::{KEY, LOCK, LONG, ask, cycle, hold, sees_waiters, served, server_and_connection};
use lock_runtime::inspect::{AuditOutcome, HolderKind, HolderRef, Revoked};

use super::{client, is_rejected, revocation, revoke};

#[tokio::test]
async fn record_of_another_program_is_revoked_by_its_hash() {
    let (server, mut connection) = server_and_connection();
    let operator = client(&server);
    let _: () = ask(&mut connection, &["SET", LOCK, "secret-of-redis-py"]);
    let state = operator.inspect(KEY).await.unwrap();
    let holder = &state.holders[0];
    assert_eq!((holder.kind, holder.remaining), (HolderKind::Foreign, None));
    assert!(!format!("{state:?}").contains("secret"), "{state:?}");
    let seen = holder.reference.unwrap();
    // As an operator gets it from another process.
    let seen: HolderRef = seen.to_string().parse().unwrap();
    let _: () = ask(&mut connection, &["SET", LOCK, "secret-of-redis-pz"]);
    let refused = operator.revoke(KEY, seen, revocation()).await.unwrap();
    assert!(matches!(refused, Revoked::Changed(_)), "{refused:?}");
    let _: () = ask(&mut connection, &["SET", LOCK, "secret-of-redis-py"]);
    let receipt = harness::revoke(&operator, KEY, seen).await;
    assert!(!receipt.handed_off);
    cycle(&operator).await;
}

#[tokio::test]
async fn waiter_behind_a_revoked_foreign_record_is_served() {
    let (server, mut connection) = server_and_connection();
    let operator = client(&server);
    let _: () = ask(&mut connection, &["SET", LOCK, "foreign"]);
    let waiting = tokio::spawn(client(&server).lock(KEY).wait(LONG).acquire());
    sees_waiters(&operator, KEY, 1).await;
    assert!(revoke(&operator).await.handed_off);
    served(waiting).await.release().await.unwrap();
}

/// Its queue is damaged: no record of the lock is written.
#[tokio::test]
async fn lock_whose_other_record_has_another_type_is_not_revoked() {
    let (server, mut connection) = server_and_connection();
    let operator = client(&server);
    let guard = hold(&operator).await;
    let _: i64 = ask(&mut connection, &["LPUSH", harness::QUEUE, "x"]);
    let state = operator.inspect(KEY).await.unwrap();
    assert_eq!((state.waiter_count(), state.holders.len()), (0, 1));
    is_rejected(&operator, &guard).await;
    assert!(guard.is_valid());
    let _: i64 = ask(&mut connection, &["DEL", harness::QUEUE]);
    guard.release().await.unwrap();
    // The audit has the attempt.
    let lines = operator.audit().next_page().await.unwrap().unwrap();
    assert_eq!(lines[0].outcome, AuditOutcome::Intended);
    let failed = matches!(&lines[1].outcome, AuditOutcome::Failed(error) if !error.is_empty());
    assert!(failed, "{lines:?}");
}
