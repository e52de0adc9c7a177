//! Who reads, and who need not.

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

#[test]
fn nothing_runs_on_a_callers_runtime_if_told_so() {
    let _alone = alone();
    let server = RedisServer::start();
    current_thread().block_on(async {
        let client = LockClient::builder()
            .url(server.url())
            .background_only(true);
        let client = client.connect().await.unwrap();
        settle_in(&client).await;
        assert_eq!(tasks_here(), 0);
    });
}

/// Two keys at once: one lock is renewed all the time, by the background, while the runtime uses the
/// connection.
#[test]
fn renewals_and_cycles_share_one_connection() {
    let _alone = alone();
    let server = RedisServer::start();
    current_thread().block_on(async {
        let client = client(server.url());
        let held = client.lock("held").ttl(ms(1_500)).acquire().await.unwrap();
        settle_in(&client).await;
        let before = connection(&server);
        let started = Instant::now();
        while started.elapsed() < ms(3_500) {
            cycle(&client).await;
        }
        assert!(held.is_valid());
        held.release().await.expect("it was held throughout");
        assert_eq!(connection(&server), before);
    });
}

/// A caller that blocks leaves its waiting to the background, where the message of its grant has to
/// come whatever else the connection is used for.
#[test]
fn a_waiter_that_blocks_is_told_of_its_grant_beside_cycles() {
    let _alone = alone();
    let server = RedisServer::start();
    let other = client(server.url());
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

/// The background reads for one that cannot.
#[test]
fn a_runtime_without_io_will_do() {
    let _alone = alone();
    let server = RedisServer::start();
    for only in [false, true] {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let client = LockClient::builder()
                .url(server.url())
                .background_only(only);
            let client = client.connect().await.unwrap();
            settle_in(&client).await;
            assert_eq!(tasks_here(), 0);
            let inside = LockClient::memory();
            inside.lock(KEY).run_blocking(|_| ()).unwrap();
        });
    }
}
