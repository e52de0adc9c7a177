//! Connections that are idle for a while.

use super::*;

/// The end of an idle connection is noticed at once, and not by the next call.
#[test]
fn a_connection_that_is_killed_while_it_is_idle_costs_no_attempt() {
    let (_alone, server) = alone_with_a_server();
    let runtime = current_thread();
    runtime.block_on(async {
        let client = client(server.url());
        for _ in 0..5 {
            settle_in(&client).await;
            let tasks = lock_runtime::__private::inspect::background_tasks();
            let id = connection(&server);
            let _: i64 = ask(&mut server.connection(), &["CLIENT", "KILL", "ID", &id]);
            // This thread waits as well: detection does not need it.
            wait_until("end of the connection", LONG, || {
                lock_runtime::__private::inspect::background_tasks() < tasks
            });
            let guard = client.lock(KEY).try_acquire().await;
            let guard = guard.expect("one attempt is enough").expect("it is free");
            guard.release().await.unwrap();
        }
    });
}

/// The connection is killed while the reading runtime is not polled. Commands of the background are not lost on it, nor are
/// those that the runtime sends when it is polled again.
#[test]
fn a_connection_that_is_killed_while_its_runtime_blocks_costs_no_attempt() {
    let (_alone, server) = alone_with_a_server();
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
