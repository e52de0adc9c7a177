//! The audit: its entries, and the operations that are refused without it.

use harness::{
    KEY, OPERATOR_RIGHTS, RedisServer, VIEWER_RIGHTS, all_entries, ask, hold, patient,
    server_and_connection, token_of,
};
use lock_runtime::inspect::{Revocation, Revoked};
use lock_runtime::{LockClient, LockErrorKind};

use super::{client, is_rejected, revocation, revoke};

const STREAM: &str = "{lock:}:audit";

/// A client of an operator without one right.
fn operator_without(server: &RedisServer, right: &str) -> LockClient {
    let rights = [VIEWER_RIGHTS, OPERATOR_RIGHTS].concat();
    let rights = rights.into_iter().filter(|other| *other != right);
    let url = server.user("ann", "s3cret", &rights.collect::<Vec<_>>());
    patient(url).build().expect("the settings are valid")
}

#[tokio::test]
async fn nothing_is_done_if_the_audit_cannot_be_written() {
    let server = RedisServer::start();
    let operator = operator_without(&server, "+xadd");
    let guard = hold(&client(&server)).await;
    let refused = is_rejected(&operator, &guard).await;
    assert!(
        refused.to_string().contains("nothing was done"),
        "{refused}"
    );
    assert!(guard.is_valid());
    guard.renew().await.unwrap();

    let without = revocation().without_audit();
    let revoked = operator.revoke(KEY, token_of(&guard).await, without).await;
    let Revoked::Done(receipt) = revoked.unwrap() else {
        panic!("it was held");
    };
    assert!(!receipt.audited);
    assert!(guard.release().await.unwrap_err().is_lost());
}

#[tokio::test]
async fn audit_key_of_another_type_is_not_overwritten() {
    let (server, mut connection) = server_and_connection();
    let operator = client(&server);
    let _: () = ask(&mut connection, &["SET", STREAM, "x"]);
    let guard = hold(&operator).await;
    is_rejected(&operator, &guard).await;
    assert_eq!(
        operator.audit().next_page().await.unwrap_err().kind(),
        LockErrorKind::Rejected
    );
    assert!(guard.is_valid());
    guard.release().await.unwrap();
}

#[tokio::test]
async fn operator_is_named_by_both_names_and_texts_are_bounded() {
    let server = RedisServer::start();
    let operator = operator_without(&server, "");
    let guard = hold(&client(&server)).await;
    let long = Revocation::new("ann\n".repeat(100), "x".repeat(10_000));
    let revoked = operator.revoke(KEY, token_of(&guard).await, long).await;
    assert!(matches!(revoked, Ok(Revoked::Done(_))), "{revoked:?}");
    let lines = operator.audit().next_page().await.unwrap().unwrap();
    let line = &lines[0];
    assert_eq!(line.user, "ann");
    assert_eq!((line.by.len(), line.reason.len()), (128, 256));
    assert!(!line.by.contains('\n'), "{line:?}");
    assert_eq!(line.token, Some(token_of(&guard).await));
    let lost = guard.release().await.unwrap_err().to_string();
    let operation = line.operation.expect("a UUID").to_string();
    assert!(lost.contains(&operation), "{lost}");
}

#[tokio::test]
async fn audit_keeps_its_last_lines_and_is_read_by_pages() {
    let (server, mut connection) = server_and_connection();
    let operator = client(&server);
    let script = "for i = 1, 12000 do
        redis.call('XADD', KEYS[1], '*', 'operation', i, 'key', 'old', 'outcome', 'freed')
    end";
    let _: () = ask(&mut connection, &["EVAL", script, "1", STREAM]);
    let _guard = hold(&operator).await;
    revoke(&operator).await;
    let kept: i64 = ask(&mut connection, &["XLEN", STREAM]);
    assert!((10_000..10_300).contains(&kept), "{kept}");
    let mut audit = operator.audit();
    let (mut lines, mut pages) = (0, 0);
    while let Some(page) = audit.next_page().await.unwrap() {
        lines += page.len();
        pages += 1;
    }
    assert_eq!(lines, usize::try_from(kept).unwrap());
    assert!(pages > 10, "{pages}");
    let of_key = all_entries(operator.audit().key(KEY)).await;
    assert_eq!(of_key.len(), 2, "{of_key:?}");
}
