//! What arrives after its sender has given up: acquires of owners that have ended. And what is over
//! before its caller gets to look.

mod leases;

use std::time::Duration;

use harness::{KEY, LOCK, Monitor, PATIENCE, Proxy, RedisServer, eventually};
use lock_runtime::{LockClient, LockErrorKind};

fn exists(server: &RedisServer) -> bool {
    let mut connection = server.connection();
    redis::cmd("EXISTS")
        .arg(LOCK)
        .query(&mut connection)
        .unwrap()
}

/// The owner and label that `end` was sent for, as soon as one is.
async fn ended(monitor: &mut Monitor) -> String {
    let mut ticket = None;
    eventually("end of the owner", PATIENCE, async || {
        // EVALSHA sha 3 K F Q ticket: the only call with three keys and no ttl.
        ticket = monitor
            .take()
            .into_iter()
            .filter(|command| command.text.contains(LOCK))
            .find_map(|command| {
                let arguments: Vec<&str> = command.text.split('"').skip(1).step_by(2).collect();
                (arguments.len() == 7).then(|| arguments[6].to_owned())
            });
        ticket.is_some()
    })
    .await;
    ticket.expect("it was waited for")
}

/// Applies `acquire` for `ticket`, as a request does that was under way all the time.
fn arrive_late(server: &RedisServer, ticket: &str) {
    let script = concat!(
        include_str!("../../../../lock-runtime/src/backend/redis/lua/take.lua"),
        include_str!("../../../../lock-runtime/src/backend/redis/lua/grant.lua"),
        include_str!("../../../../lock-runtime/src/backend/redis/lua/acquire.lua"),
    );
    let answer: String = redis::cmd("EVAL")
        .arg(script)
        .arg(3)
        .arg(LOCK)
        .arg(format!("{{{LOCK}}}:f"))
        .arg(format!("{{{LOCK}}}:w"))
        .arg(ticket)
        .arg(30_000)
        .query(&mut server.connection())
        .unwrap();
    assert_eq!(answer.len(), 17, "the late acquire took the lock");
}

/// An acquire goes unanswered on a connection that is then replaced; the caller gives up, and the
/// owner is ended over the new connection. The acquire may still arrive, and must not keep the
/// lock for its whole ttl.
#[tokio::test]
async fn a_late_acquire_of_an_ended_owner_is_undone() {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let client = LockClient::builder()
        .url(proxy.url())
        .command_timeout(Duration::from_millis(150))
        .build()
        .unwrap();
    // Connected, with more than one attempt.
    let warm = client.lock("warm").wait(PATIENCE).acquire().await.unwrap();
    warm.release().await.unwrap();
    let mut monitor = server.monitor();

    proxy.black_hole();
    let wait = Duration::from_millis(700);
    let error = client.lock(KEY).wait(wait).acquire().await.unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::Unavailable);
    proxy.kill_connections();
    proxy.heal();

    let ticket = ended(&mut monitor).await;
    for round in 1..=3 {
        arrive_late(&server, &ticket);
        // The owner is ended twice a second; without that the lock would stay for 30 s.
        let limit = Duration::from_secs(5);
        eventually(&format!("end of late acquire {round}"), limit, async || {
            !exists(&server)
        })
        .await;
    }
}

/// An owner whose commands were all answered is not ended again: nothing of it can arrive.
#[tokio::test]
async fn an_owner_that_ended_in_good_order_is_left_alone() {
    let server = RedisServer::start();
    let client = LockClient::connect(&server.url()).await.unwrap();
    client
        .lock(KEY)
        .acquire()
        .await
        .unwrap()
        .release()
        .await
        .unwrap();
    let mut monitor = server.monitor();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert_eq!(monitor.take(), []);
}
