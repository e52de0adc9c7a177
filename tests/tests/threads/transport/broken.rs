//! Connections that break.

use harness::{patient, server_and_proxy};

use super::*;

/// Two runtimes share a connection that goes silent. The caller that notices tears it down, whichever
/// runtime reads it, and the next connection serves both.
#[test]
fn a_silent_connection_is_torn_down_from_any_thread() {
    let _alone = alone();
    let (server, proxy) = server_and_proxy();
    let (home, other) = (current_thread(), current_thread());
    let builder = patient(proxy.url()).command_timeout(ms(300));
    let client = inside(&home, || builder.build().unwrap());
    home.block_on(settle_in(&client));
    let first = connection(&server);
    proxy.black_hole();
    let fail = |client: LockClient, runtime: Runtime, key: &'static str| {
        thread(move || {
            for _ in 0..3 {
                let attempt = client.lock(key).try_acquire();
                let error = runtime
                    .block_on(attempt)
                    .expect_err("the connection is silent");
                assert!(error.is_unavailable(), "{error}");
            }
            runtime
        })
    };
    let there = fail(client.clone(), other, "there");
    let here = fail(client.clone(), home, "here");
    let (home, other) = (here.join().unwrap(), there.join().unwrap());
    proxy.heal();
    other.block_on(cycle(&client));
    home.block_on(settle_in(&client));
    wait_until("end of the first one", LONG, || connections(&server) == 1);
    assert_ne!(connection(&server), first);
    for key in ["here", "there"] {
        // Late answers are settled by then.
        client.lock(key).wait(LONG).run_blocking(|_| ()).unwrap();
    }
}

/// The client is dropped by a thread that does not read; the reading threads have the socket as well.
#[test]
fn a_client_that_is_dropped_elsewhere_takes_its_connection_down() {
    let (_alone, server) = alone_with_a_server();
    let runtime = current_thread();
    let tasks = lock_runtime::__private::inspect::background_tasks();
    for _ in 0..20 {
        let client = runtime.block_on(async {
            let client = client(server.url());
            settle_in(&client).await;
            client
        });
        // That runtime is no longer polled.
        assert_eq!(connections(&server), 1);
        thread(move || drop(client)).join().unwrap();
        wait_until("end of the connection", LONG, || connections(&server) == 0);
    }
    wait_until("end of all tasks", LONG, || {
        lock_runtime::__private::inspect::background_tasks() <= tasks
    });
    runtime.block_on(async {
        eventually("end of all readers", LONG, async || tasks_here() == 0).await;
    });
}

/// A storm of kills by the server, while two runtimes use locks.
#[test]
fn kills_at_any_time_lose_nothing() {
    let (_alone, server) = alone_with_a_server();
    let home = multi_thread();
    let client = inside(&home, || client(server.url()));
    let (ended, running) = std::sync::mpsc::channel::<()>();
    let work = |client: LockClient, runtime: Runtime| {
        let ended = ended.clone();
        thread(move || {
            let _ended = ended;
            runtime.block_on(async {
                for _ in 0..200 {
                    let guard = client.lock(KEY).wait(LONG).acquire().await.unwrap();
                    guard
                        .release()
                        .await
                        .expect("no connection takes a lock with it");
                }
            });
        })
    };
    let workers = [
        work(client.clone(), home),
        work(client.clone(), current_thread()),
    ];
    drop(ended);
    while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) = running.recv_timeout(ms(30)) {
        let kill = ["CLIENT", "KILL", "TYPE", "pubsub"];
        let _: i64 = ask(&mut server.connection(), &kill);
    }
    workers
        .into_iter()
        .for_each(|worker| worker.join().unwrap());
    wait_until("empty lock", LONG, || {
        ask::<i64>(
            &mut server.connection(),
            &["EXISTS", harness::LOCK, harness::QUEUE],
        ) == 0
    });
}
