//! More simultaneous callers than a server can answer within the command timeout.
//!
//! Their commands once waited in the connection until the timeout, counted as lost, and were sent again
//! by the thousand.

use std::time::Duration;

use harness::{LONG, RedisServer, patient};
use tokio::task::JoinSet;

/// So many that the last ones cannot be answered within the command timeout.
const CALLERS: usize = 20_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_callers_asks_once_each() {
    let _alone = crate::ALONE.lock().await;
    let server = RedisServer::start();
    let client = patient(server.url()).connect().await.unwrap();
    let mut monitor = server.monitor();
    let mut callers = JoinSet::new();
    for n in 0..CALLERS {
        let lock = client.lock(format!("burst:{n}"));
        // Longer than the test takes, since renewals would be counted.
        let lock = lock.ttl(Duration::from_secs(600)).wait(LONG);
        callers.spawn(async move { lock.acquire().await });
    }
    let guards = callers.join_all().await;
    let (held, failed): (Vec<_>, Vec<_>) = guards.into_iter().partition(Result::is_ok);
    assert!(
        failed.is_empty(),
        "{} failed: {:?}",
        failed.len(),
        failed[0]
    );
    let sent = monitor.take().len();
    assert!(
        sent < CALLERS + CALLERS / 2,
        "{sent} commands for {CALLERS} callers"
    );
    drop(held);
    client.shutdown().await;
}
