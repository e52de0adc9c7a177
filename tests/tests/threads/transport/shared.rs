//! Which runtimes and threads read the connection, and which need not.

use super::*;

#[test]
fn a_runtime_that_sends_has_one_task_that_reads() {
    let _alone = alone();
    let server = RedisServer::start();
    let client = client(server.url());
    for runtime in [current_thread(), multi_thread(), current_thread()] {
        runtime.block_on(async {
            settle_in(&client).await;
            assert_eq!(tasks_here(), 1);
            drop(client.clone());
        });
    }
    assert_eq!(connections(&server), 1);
}

/// A blocked caller leaves reading to the background, which must receive the grant's message whatever else the
/// connection carries.
#[test]
fn a_blocked_waiter_is_notified_of_its_grant_during_cycles() {
    let _alone = alone();
    let (server, other) = harness::server_and_client();
    let guard = other.lock("waited for").acquire_blocking().unwrap();
    let runtime = current_thread();
    let ours = runtime.block_on(async { client(server.url()) });
    let waiting = ours.lock("waited for").wait(LONG);
    let waiter = thread(move || waiting.run_blocking(|_| ()));
    runtime.block_on(async {
        eventually("waiter", LONG, async || {
            cycle(&ours).await;
            ask::<i64>(&mut server.connection(), &["ZCARD", "{lock:waited for}:w"]) > 0
        })
        .await;
        settle_in(&ours).await;
        guard.release().await.unwrap();
        while !waiter.is_finished() {
            cycle(&ours).await;
        }
    });
    waiter.join().unwrap().expect("it is granted");
}

/// The background reads for a runtime that cannot, and for a client that requests it.
#[test]
fn a_runtime_without_io_and_one_of_a_background_client_have_no_reader() {
    let (_alone, server) = alone_with_a_server();
    for only in [false, true] {
        let mut builder = Builder::new_current_thread();
        if only {
            builder.enable_all();
        }
        let runtime = builder.build().unwrap();
        runtime.block_on(async {
            let client = patient(server.url()).background_only(only);
            let client = client.connect().await.unwrap();
            settle_in(&client).await;
            assert_eq!(tasks_here(), 0);
            let inside = LockClient::memory();
            inside.lock(KEY).run_blocking(|_| ()).unwrap();
        });
    }
}
