//! A server that answers nothing for longer than its clients end an owner.

use harness::{KEY, LONG, cycle, eventually, hasty, ms, server_and_proxy};

/// Twice the time in which a command may arrive, and more.
const FROZEN: std::time::Duration = ms(23_000);

#[tokio::test]
async fn command_that_a_frozen_server_runs_much_later_is_ended() {
    let (server, proxy) = server_and_proxy();
    // Otherwise the owner would be ended for longer.
    let client = hasty(proxy.url()).build().unwrap();
    cycle(&client).await;
    let mut monitor = server.monitor();
    // What was sent arrives when the proxy is healed, even if its connection is gone by then.
    proxy.black_hole();
    let gone = client.lock(KEY).ttl(ms(10_000)).wait(ms(500)).acquire();
    assert!(gone.await.unwrap_err().is_unavailable());
    tokio::time::sleep(FROZEN).await;
    monitor.take();
    proxy.heal();
    let mut names = Vec::new();
    eventually("end of the owner", LONG, async || {
        names.extend(monitor.names());
        let taken = names.iter().position(|name| name == "SET");
        let ends = |name: &String| name.starts_with("EVAL");
        taken.is_some_and(|taken| names[taken..].iter().any(ends))
    })
    .await;
}
