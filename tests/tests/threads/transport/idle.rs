//! Connections that nobody uses for a while.

use super::*;

/// The end of a connection is noticed while it is idle, and not by the call that follows.
#[test]
fn a_connection_that_is_killed_while_it_is_idle_costs_no_attempt() {
    let _alone = alone();
    let server = RedisServer::start();
    let runtime = current_thread();
    runtime.block_on(async {
        let client = client(server.url());
        for _ in 0..5 {
            settle_in(&client).await;
            let tasks = lock_runtime::__private::inspect::background_tasks();
            let id = connection(&server);
            let _: i64 = ask(&mut server.connection(), &["CLIENT", "KILL", "ID", &id]);
            // This thread waits as well: it is not needed for that.
            wait_until("end of the connection", LONG, || {
                lock_runtime::__private::inspect::background_tasks() < tasks
            });
            let guard = client.lock(KEY).try_acquire().await;
            let guard = guard.expect("one attempt is enough").expect("it is free");
            guard.release().await.unwrap();
        }
    });
}

/// Killed while the runtime that reads does not look: what the background sends is not lost on it, nor
/// what that runtime sends at the moment it looks.
#[test]
fn a_connection_that_is_killed_while_its_runtime_blocks_costs_the_background_no_attempt() {
    let _alone = alone();
    let server = RedisServer::start();
    current_thread().block_on(async {
        let client = client(server.url());
        for _ in 0..10 {
            let guard = client.lock("held").acquire().await.unwrap();
            settle_in(&client).await;
            let id = connection(&server);
            let _: i64 = ask(&mut server.connection(), &["CLIENT", "KILL", "ID", &id]);
            guard.renew().await.expect("one attempt is enough");
            guard.release().await.unwrap();
        }
    });
}
