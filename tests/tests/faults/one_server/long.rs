//! A server that answers nothing for longer than its clients end an owner.

use harness::{KEY, cycle, hasty, is_taken_and_ended, ms, server_and_proxy};

/// Twice the time in which a command may arrive, and more.
const FROZEN: std::time::Duration = ms(23_000);

#[tokio::test]
async fn command_that_a_frozen_server_runs_much_later_is_ended() {
    let (server, proxy) = server_and_proxy();
    // Otherwise the owner would be ended for longer.
    let client = hasty(proxy.url()).build().unwrap();
    cycle(&client).await;
    // What was sent arrives when the proxy is healed, even if its connection is gone by then.
    proxy.black_hole();
    // The connection is given up after two commands without an answer, so the end is not behind the acquire.
    let gone = client.lock(KEY).ttl(ms(10_000)).wait(ms(2_500)).acquire();
    assert!(gone.await.unwrap_err().is_unavailable());
    tokio::time::sleep(FROZEN).await;
    let mut monitor = server.monitor();
    proxy.heal();
    is_taken_and_ended(&mut monitor, &server, "10000").await;
}
