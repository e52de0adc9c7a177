//! The holder gives up before the server does.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use harness::{Mode, RedisServer, wait_until};
use lock_runtime::{LockClient, LockGuard};

use super::{KEY, LOCK, LONG, SLACK, ask, behind_a_proxy, client, hold, ms, soon};

#[tokio::test]
async fn line_3_no_holder_relies_on_a_lease_that_the_server_has_ended() {
    let (server, proxy, client) = behind_a_proxy();
    let mut connection = server.connection();
    drop(hold(&client).await);
    for ttl in [ms(20), ms(100), ms(500)] {
        let guard = soon(hold_for(&client, ttl)).await;
        proxy.black_hole();
        wait_until("loss", LONG, || {
            // In this order: a holder that is still valid after the server has ended its lease is
            // wrong.
            let left: i64 = ask(&mut connection, &["PTTL", LOCK]);
            let believes = guard.is_valid();
            assert!(left >= 0 || !believes, "the server was first");
            !believes
        });
        proxy.kill_connections();
        proxy.heal();
    }
}

/// Repeats the acquire if so short a lease expires before its answer arrives.
async fn hold_for(client: &LockClient, ttl: Duration) -> LockGuard {
    loop {
        match client.lock(KEY).wait(LONG).ttl(ttl).acquire().await {
            Err(error) if error.is_lost() => {}
            acquired => return acquired.unwrap(),
        }
    }
}

#[tokio::test]
async fn line_3_an_async_body_is_dropped_at_its_await() {
    let (_server, proxy, client) = behind_a_proxy();
    drop(hold(&client).await);
    let ttl = ms(1_000);
    let (dropped, body_dropped) = std::sync::mpsc::channel();
    let mut silent_since = Instant::now();
    let body = async |guard: &LockGuard| {
        let _report = Report(|| dropped.send(guard.is_valid()).expect("the test listens"));
        proxy.black_hole();
        silent_since = Instant::now();
        pending::<()>().await;
    };
    let run = client.lock(KEY).wait(LONG).ttl(ttl).run(body);
    assert!(soon(run).await.unwrap_err().is_lost());
    assert!(silent_since.elapsed() < ttl + SLACK);
    let valid = body_dropped.try_recv().expect("the body was dropped");
    assert!(!valid, "it was dropped before its time");
}

#[tokio::test]
async fn line_3_a_slow_reply_is_counted_as_time_that_has_passed() {
    let (server, proxy, client) = behind_a_proxy();
    let mut connection = server.connection();
    drop(hold(&client).await);
    proxy.replies(Mode::Delay(ms(300)));
    let started = Instant::now();
    let lease = client.lock(KEY).wait(LONG).ttl(ms(800)).renew(false);
    let guard = lease.acquire().await.unwrap();
    assert!(started.elapsed() >= ms(300));
    assert!(
        guard.remaining() <= ms(800 - 300),
        "{:?}",
        guard.remaining()
    );
    wait_until("loss", LONG, || {
        let left: i64 = ask(&mut connection, &["PTTL", LOCK]);
        let believes = guard.is_valid();
        assert!(left >= 0 || !believes, "the server was first");
        !believes
    });
}

#[tokio::test]
async fn line_3_a_frozen_server_does_not_keep_a_body_alive() {
    let server = RedisServer::start();
    let client = client(server.url());
    drop(hold(&client).await);
    let ttl = ms(400);
    let started = Instant::now();
    let body = async |_: &_| {
        server.pause();
        pending::<()>().await;
    };
    let run = client.lock(KEY).wait(LONG).ttl(ttl).run(body);
    assert!(soon(run).await.unwrap_err().is_lost());
    // Its last confirmation came before the freeze, which followed at once.
    assert!(started.elapsed() < ttl + SLACK, "{:?}", started.elapsed());
    server.resume();
}

#[tokio::test]
async fn line_3_a_sync_body_runs_to_its_end_and_then_fails() {
    let (server, proxy, client) = behind_a_proxy();
    let ended = AtomicBool::new(false);
    let body = |guard: &LockGuard| {
        assert!(guard.is_valid());
        proxy.black_hole();
        wait_until("deadline", LONG, || !guard.is_valid());
        ended.store(true, Ordering::SeqCst);
    };
    let error = client.lock(KEY).ttl(ms(2_000)).run_blocking(body);
    assert!(error.unwrap_err().is_lost());
    assert!(ended.load(Ordering::SeqCst));
    drop(server);
}

/// Runs a closure when it is dropped.
struct Report<F: FnMut()>(F);

impl<F: FnMut()> Drop for Report<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
