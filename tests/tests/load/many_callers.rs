//! More simultaneous callers than a server can answer within the command timeout.
//!
//! Their commands once waited in the connection until the timeout, counted as lost, and were sent again
//! by the thousand.

use std::time::Duration;

use harness::{LONG, Mode, Proxy, RedisServer, patient};
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

/// A caller's command has its whole time from when it is sent, however many others ask for their tokens first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_holders_gets_their_tokens() {
    const HOLDERS: usize = 6_000;
    /// The answers to all of them take longer than one command may take.
    const LATE: Duration = Duration::from_secs(1);
    const COMMAND: Duration = Duration::from_secs(4);
    let _alone = crate::ALONE.lock().await;
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let client = patient(proxy.url()).command_timeout(COMMAND);
    let client = client.build().expect("the settings are valid");
    let mut callers = JoinSet::new();
    for n in 0..HOLDERS {
        let lock = client.lock(format!("burst:{n}"));
        let lock = lock.ttl(Duration::from_secs(600)).wait(LONG);
        callers.spawn(async move { lock.acquire().await.expect("it is free") });
    }
    let guards = callers.join_all().await;
    // The script's text costs a round trip of its own.
    let first = guards[0].fencing_token().await;
    first.expect("the server answers");
    proxy.replies(Mode::Delay(LATE));
    let mut asking = JoinSet::new();
    for guard in guards {
        asking.spawn(async move { guard.fencing_token().await.map(|token| (token, guard)) });
    }
    let asked = asking.join_all().await;
    let (tokens, failed): (Vec<_>, Vec<_>) = asked.into_iter().partition(Result::is_ok);
    proxy.heal();
    assert!(
        failed.is_empty(),
        "{} failed: {:?}",
        failed.len(),
        failed[0]
    );
    drop(tokens);
    client.shutdown().await;
}
