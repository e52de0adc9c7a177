//! Sockets that stay open and carry nothing, in one direction or in both.

use std::time::Instant;

use harness::{
    KEY, LONG, Mode, Proxy, RedisServer, SLACK, bring_scripts, cycle, eventually, hasty, ms,
    nothing_is_left, patient, ran_since, served, server_and_proxy, soon,
};

#[tokio::test]
async fn silence_in_any_direction_is_noticed_after_two_timeouts_and_ends_a_hold() {
    let requests = |proxy: &Proxy| proxy.requests(Mode::Hold);
    let replies = |proxy: &Proxy| proxy.replies(Mode::Hold);
    tokio::join!(
        is_silent(Proxy::black_hole),
        is_silent(requests),
        is_silent(replies),
    );
}

async fn is_silent(silence: impl Fn(&Proxy)) {
    let (server, proxy) = server_and_proxy();
    let client = hasty(proxy.url()).build().unwrap();
    bring_scripts(&client).await;
    let connections = proxy.accepted();
    silence(&proxy);
    let started = Instant::now();
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    eventually("new connection", LONG, async || {
        proxy.accepted() > connections
    })
    .await;
    let elapsed = started.elapsed();
    assert!(elapsed >= ms(1_500), "one is not enough: {elapsed:?}");
    assert!(
        ran_since(started) < ms(2_000) + SLACK,
        "it took {elapsed:?}"
    );
    // The old connection stays silent; the new one works.
    proxy.kill_connections();
    proxy.heal();
    served(waiting).await.release().await.unwrap();

    let lease = client.lock(KEY).ttl(ms(600)).wait(LONG);
    let guard = lease.acquire().await.unwrap();
    silence(&proxy);
    soon(guard.lost()).await;
    drop(guard);
    proxy.kill_connections();
    proxy.heal();
    nothing_is_left(&mut server.connection(), LONG).await;
    cycle(&client).await;
}

/// The command's time would be longer than the lease.
#[tokio::test]
async fn a_guard_waits_for_its_token_no_longer_than_its_lease_lasts() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let client = patient(proxy.url())
        .build()
        .expect("the settings are valid");
    let lease = client.lock(KEY).ttl(SLACK).wait(LONG);
    let guard = lease.acquire().await.expect("it is free");
    proxy.black_hole();
    let error = guard.fencing_token().await.expect_err("it is silent");
    assert!(error.is_lost(), "{error}");
    proxy.heal();
}
