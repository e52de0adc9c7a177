//! Operations on one server that go beyond every backend's.

mod audit;
mod crowds;
mod holders;
mod listing;
mod records;
mod watches;

use harness::{KEY, RedisServer, failed, patient, revocation, token_of};
use lock_runtime::inspect::Receipt;
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard};

/// A patient client: nothing repeats an operator's request.
fn client(server: &RedisServer) -> LockClient {
    let builder = patient(server.url());
    builder.build().expect("the settings are valid")
}

/// Revokes the lock from its current holder.
async fn revoke(operator: &LockClient) -> Receipt {
    let state = operator.inspect(KEY).await.unwrap();
    let seen = state.holders[0].reference.expect("it can be revoked");
    harness::revoke(operator, KEY, seen).await
}

/// A revocation that is refused.
async fn is_rejected(operator: &LockClient, guard: &LockGuard) -> LockError {
    let revoking = operator.revoke(KEY, token_of(guard).await, revocation());
    failed(revoking.await, LockErrorKind::Rejected)
}

/// Asserts that the former holder learns of a loss by a revocation.
#[track_caller]
fn assert_revoked(lost: &LockError) {
    let text = lost.to_string();
    assert!(
        lost.is_lost() && text.contains("revoked by ann@ops-1: stuck import"),
        "{text}"
    );
}
