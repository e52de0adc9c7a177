//! Connections that nobody uses for a while.

use super::*;

/// Uses the connection in this runtime, and waits until that does not drive it any more.
async fn idle(client: &LockClient) {
    lure(client).await;
    eventually("homecoming", LONG, async || guests() == 0).await;
}

#[test]
fn an_idle_connection_comes_home() {
    let _alone = alone();
    let server = RedisServer::start();
    current_thread().block_on(async {
        let client = client(server.url());
        for _ in 0..5 {
            idle(&client).await;
        }
        assert_eq!(connections(&server), 1);
    });
}

/// The end of a connection is noticed while it is idle, and not by the call that follows.
#[test]
fn a_connection_that_is_killed_while_it_is_idle_costs_no_attempt() {
    let _alone = alone();
    let server = RedisServer::start();
    let runtime = current_thread();
    runtime.block_on(async {
        let client = client(server.url());
        for _ in 0..5 {
            idle(&client).await;
            let tasks = lock_runtime::__background_tasks();
            let id = connection(&server);
            let _: i64 = ask(&mut server.connection(), &["CLIENT", "KILL", "ID", &id]);
            // This thread waits as well: it is not needed for that.
            wait_until("end of the driver", LONG, || {
                lock_runtime::__background_tasks() < tasks
            });
            let guard = client.lock(KEY).try_acquire().await;
            let guard = guard.expect("one attempt is enough").expect("it is free");
            guard.release().await.unwrap();
        }
    });
}

/// Killed while it is away, and its runtime did not look since: what the background sends is not lost on
/// it, nor what that runtime sends at the moment it looks.
#[test]
fn a_connection_that_is_killed_while_its_runtime_blocks_costs_the_background_no_attempt() {
    let _alone = alone();
    let server = RedisServer::start();
    current_thread().block_on(async {
        let client = client(server.url());
        for _ in 0..10 {
            let guard = client.lock("held").acquire().await.unwrap();
            lure(&client).await;
            let id = connection(&server);
            let _: i64 = ask(&mut server.connection(), &["CLIENT", "KILL", "ID", &id]);
            guard.renew().await.expect("one attempt is enough");
            guard.release().await.unwrap();
        }
    });
}
