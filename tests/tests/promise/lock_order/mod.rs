//! Nested calls that take locks in opposite orders are reported once both orders were seen, before anything is blocked.
//!
//! `lock-runtime/src/client/acquire/order/tests.rs` compares the calls that close a ring, of all modes and ways to
//! wait, with an exhaustive search.

mod classes;
mod rings;
mod together;

use lock_runtime::testing::deny_lock_order;
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard};

/// A client that refuses calls that close a ring.
fn strict() -> LockClient {
    let client = LockClient::memory();
    deny_lock_order(&client);
    client
}

/// Acquires `inner` while the call tree holds `outer`.
async fn nest(client: &LockClient, outer: &str, inner: &str) -> Result<(), LockError> {
    let body = async |_: &LockGuard| client.lock(inner).run(async |_| ()).await;
    client.lock(outer).run(body).await?
}

/// Whether the call was refused because it closes a ring. It must not fail otherwise.
#[track_caller]
fn closes_a_ring(outcome: Result<(), LockError>) -> bool {
    match outcome {
        Ok(()) => false,
        Err(error) if error.kind() == LockErrorKind::OutOfOrder => true,
        Err(error) => panic!("{error}"),
    }
}
