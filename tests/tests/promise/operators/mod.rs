//! What operators do on one server, beyond what every backend does.

mod audit;
mod crowds;
mod holders;
mod listing;
mod records;

use harness::{KEY, RedisServer, patient};
use lock_runtime::inspect::{Receipt, Revocation, Revoked, Seen};
use lock_runtime::{LockClient, LockError};

fn revocation() -> Revocation {
    Revocation::new("ann@ops-1", "stuck import")
}

/// A patient client: no caller repeats what an operator asks.
fn client(server: &RedisServer) -> LockClient {
    let builder = patient(server.url());
    builder.build().expect("the settings are valid")
}

/// Takes the lock from the holder that it has now.
async fn revoke(operator: &LockClient) -> Receipt {
    let state = operator.inspect(KEY).await.unwrap();
    let seen = state.holders[0].seen.expect("it can be revoked");
    revoke_seen(operator, seen).await
}

async fn revoke_seen(operator: &LockClient, seen: impl Into<Seen>) -> Receipt {
    match operator.revoke(KEY, seen, revocation()).await.unwrap() {
        Revoked::Done(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

/// A loss by a revocation, as the former holder is told.
#[track_caller]
fn assert_revoked(lost: &LockError) {
    let text = lost.to_string();
    assert!(
        lost.is_lost() && text.contains("revoked by ann@ops-1: stuck import"),
        "{text}"
    );
}
