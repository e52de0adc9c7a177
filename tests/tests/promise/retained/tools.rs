//! Leases that are retained for longer than any test takes.

use std::time::Duration;

use harness::{KEY, LONG, RedisServer, patient, token_of};
use lock_runtime::{Acquire, LockClient};

/// The ttl of a lease that may be retained for [`RETAIN`].
pub(crate) const TTL: Duration = Duration::from_secs(600);

/// A timeout that only a failing test reaches.
pub(crate) const RETAIN: Duration = Duration::from_secs(200);

/// A call that retains its lease.
pub(crate) fn retaining(client: &LockClient) -> Acquire {
    client.lock(KEY).ttl(TTL).retain(RETAIN).wait(LONG)
}

/// Makes one call that retains its lease, and returns its token.
pub(crate) async fn visit(client: &LockClient) -> u64 {
    let guard = retaining(client).fenced().await.expect("the lock is free");
    let token = token_of(&guard).await.get();
    guard.release().await.expect("it was held throughout");
    token
}

/// A connected client whose scripts the server knows.
pub(crate) async fn connected(server: &RedisServer) -> LockClient {
    let client = patient(server.url())
        .build()
        .expect("the settings are valid");
    let elsewhere = client.lock("elsewhere").fenced();
    let elsewhere = elsewhere.await.expect("it is free");
    elsewhere.release().await.expect("it was held");
    client
}
