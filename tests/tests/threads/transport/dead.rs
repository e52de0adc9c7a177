//! Runtimes that use the connection and then end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use harness::{Mode, server_and_client, server_and_proxy, soon};
use lock_runtime::LockGuard;

use super::*;

/// Commands are outstanding when the runtime ends: the connection survives, and each of them is answered.
fn the_connection_outlives(case: &str, runtime: Runtime, end: fn(Runtime)) {
    let (server, proxy) = server_and_proxy();
    let ours = runtime.block_on(async {
        let ours = client(proxy.url());
        settle_in(&ours).await;
        ours
    });
    let before = connection(&server);
    runtime.block_on(async {
        // A command that is never answered, by a caller that ends with its runtime.
        cycle(&ours).await;
        proxy.replies(Mode::Hold);
        tokio::spawn(ours.lock(KEY).acquire());
        eventually("acquire", LONG, async || {
            ask::<i64>(&mut server.connection(), &["EXISTS", harness::LOCK]) == 1
        })
        .await;
    });
    end(runtime);
    proxy.heal();
    // The grant of a caller that is gone is returned, and the other callers are answered.
    current_thread().block_on(cycle(&ours));
    let run = ours.lock(KEY).wait(LONG).run_blocking(|_| ());
    assert!(run.is_ok(), "{case}: {run:?}");
    assert_eq!(connection(&server), before, "{case}: it is another");
    assert_eq!(proxy.accepted(), 1, "{case}");
}

#[test]
fn the_connection_outlives_a_runtime_of_one_thread_or_with_workers() {
    let _alone = alone();
    the_connection_outlives("one thread", current_thread(), drop);
    the_connection_outlives("a worker", multi_thread(), drop);
    let shutdown = Runtime::shutdown_background;
    the_connection_outlives("a worker, without a wait", multi_thread(), shutdown);
}

#[test]
fn a_hundred_runtimes_leave_nothing_behind() {
    let (_alone, server) = alone_with_a_server();
    let first = current_thread();
    let shared = first.block_on(async {
        let shared = client(server.url());
        settle_in(&shared).await;
        shared
    });
    drop(first);
    current_thread().block_on(cycle(&shared));
    let tasks = lock_runtime::__private::inspect::background_tasks();
    let before = connection(&server);
    for index in 0..100 {
        let runtime = if index % 2 == 0 {
            current_thread()
        } else {
            multi_thread()
        };
        runtime.block_on(async {
            let own = client(server.url());
            settle_in(&own).await;
            cycle(&shared).await;
            // Some callers still read, and some hold a lock there.
            if index % 3 == 0 {
                let guard = own.lock("left").wait(LONG).acquire().await.unwrap();
                tokio::spawn(async move {
                    let _held = guard;
                    std::future::pending::<()>().await;
                });
            }
        });
    }
    wait_until("end of all tasks", LONG, || {
        lock_runtime::__private::inspect::background_tasks() <= tasks && connections(&server) == 1
    });
    assert_eq!(connection(&server), before);
    shared.lock("left").wait(LONG).run_blocking(|_| ()).unwrap();
}

/// The work in each of these runtimes. Its lock, and the callers that wait at its end, are dropped with it.
async fn visit(client: &LockClient, inside: &AtomicBool, own: &str) {
    // In whatever way the previous runtime ended.
    let held = soon(client.lock(own).wait(LONG).acquire()).await.unwrap();
    for _ in 0..5 {
        let body = async |_: &LockGuard| {
            assert!(!inside.swap(true, Ordering::SeqCst), "two are inside");
            client.lock(KEY).run(async |_| ()).await.unwrap();
            tokio::task::yield_now().await;
            inside.store(false, Ordering::SeqCst);
        };
        soon(client.lock(KEY).wait(LONG).run(body)).await.unwrap();
    }
    tokio::spawn(async move {
        let _held = held;
        std::future::pending::<()>().await;
    });
    tokio::spawn(client.lock(own).wait(LONG).acquire());
    tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
}

#[test]
fn concurrent_runtimes_hand_their_locks_to_the_next() {
    let _alone = alone();
    let (_server, client) = server_and_client();
    let inside = Arc::new(AtomicBool::new(false));
    let visitors = ["a", "b", "c", "d", "e", "f"].map(|own| {
        let (client, inside) = (client.clone(), inside.clone());
        thread(move || {
            for _ in 0..2 {
                current_thread().block_on(visit(&client, &inside, own));
                multi_thread().block_on(visit(&client, &inside, own));
            }
        })
    });
    for visitor in visitors {
        visitor.join().unwrap();
    }
}
