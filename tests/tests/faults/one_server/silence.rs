//! Sockets that stay open and carry nothing.

use std::future::pending;
use std::time::Instant;

use harness::{Mode, eventually};

use super::{KEY, LONG, SLACK, behind_a_proxy, cycle, ms, nothing_is_left, served, soon};

#[tokio::test]
async fn a_black_hole_is_noticed_after_two_timeouts_and_left() {
    let (server, proxy, client) = behind_a_proxy().await;
    let connections = proxy.accepted();
    proxy.black_hole();
    let started = Instant::now();
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    eventually("new connection", LONG, async || {
        proxy.accepted() > connections
    })
    .await;
    let elapsed = started.elapsed();
    assert!(
        elapsed >= ms(1_000),
        "one silence is not enough: {elapsed:?}"
    );
    assert!(elapsed < ms(2_000) + SLACK, "it took {elapsed:?}");
    // The old connection stays silent; the new one works.
    proxy.kill_connections();
    proxy.heal();
    served(waiting).await.release().await.unwrap();
    nothing_is_left(&mut server.connection(), ms(5_000)).await;
}

#[tokio::test]
async fn a_short_black_hole_costs_no_lease() {
    let (_server, proxy, client) = behind_a_proxy().await;
    let guard = client.lock(KEY).ttl(ms(5_000)).acquire().await.unwrap();
    for _ in 0..2 {
        proxy.black_hole();
        tokio::time::sleep(ms(500)).await;
        proxy.heal();
        soon(guard.renew())
            .await
            .expect("the server has it as ours");
    }
    assert!(guard.is_valid());
    guard.release().await.unwrap();
}

#[tokio::test]
async fn a_hold_behind_a_black_hole_is_lost_at_its_deadline() {
    let (server, proxy, client) = behind_a_proxy().await;
    let ttl = ms(600);
    let mut since = Instant::now();
    let body = async |_: &_| {
        proxy.black_hole();
        since = Instant::now();
        pending::<()>().await;
    };
    let run = client.lock(KEY).ttl(ttl).run(body);
    assert!(soon(run).await.unwrap_err().is_lost());
    assert!(since.elapsed() < ttl + SLACK, "{:?}", since.elapsed());
    proxy.kill_connections();
    proxy.heal();
    nothing_is_left(&mut server.connection(), ms(5_000)).await;
}

#[tokio::test]
async fn one_way_silence_is_silence() {
    let (server, proxy, client) = behind_a_proxy().await;
    for replies in [true, false] {
        let guard = client.lock(KEY).ttl(ms(600)).acquire().await.unwrap();
        if replies {
            proxy.replies(Mode::Hold);
        } else {
            proxy.requests(Mode::Hold);
        }
        soon(guard.lost()).await;
        drop(guard);
        proxy.kill_connections();
        proxy.heal();
        nothing_is_left(&mut server.connection(), ms(5_000)).await;
        cycle(&client).await;
    }
}
