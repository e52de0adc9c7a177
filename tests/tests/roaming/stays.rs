//! Where the connection is while it is used.

use super::*;

/// Cycles in a row for which it does not move.
const STRETCH: u32 = 200;

/// A machine that stops this thread for long looks like a runtime that blocks, so that it may take
/// more than one attempt.
fn it_goes_once_and_stays(runtime: &Runtime) {
    let server = RedisServer::start();
    runtime.block_on(async {
        let client = client(server.url());
        let start = Instant::now();
        let mut stretch = 0;
        while stretch < STRETCH {
            let before = lock_runtime::__departures();
            cycle(&client).await;
            let stayed = guests() > 0 && lock_runtime::__departures() == before;
            stretch = if stayed { stretch + 1 } else { 0 };
            assert!(start.elapsed() < LONG, "it never stays here");
        }
    });
}

#[test]
fn cycles_leave_the_connection_on_the_only_thread_of_their_runtime() {
    let _alone = alone();
    it_goes_once_and_stays(&current_thread());
}

#[test]
fn cycles_leave_the_connection_on_the_workers_of_their_runtime() {
    let _alone = alone();
    it_goes_once_and_stays(&multi_thread());
}

#[test]
fn it_stays_in_the_background_if_told_to() {
    let _alone = alone();
    let server = RedisServer::start();
    let before = lock_runtime::__departures();
    current_thread().block_on(async {
        let client = LockClient::builder()
            .url(server.url())
            .background_only(true);
        let client = client.connect().await.unwrap();
        for _ in 0..100 {
            cycle(&client).await;
        }
    });
    assert_eq!(lock_runtime::__departures(), before);
}

#[test]
fn it_stays_in_the_background_for_clients_that_were_made_outside_of_any_runtime() {
    let _alone = alone();
    let server = RedisServer::start();
    let before = lock_runtime::__departures();
    let client = client(server.url());
    for _ in 0..100 {
        current_thread().block_on(cycle(&client));
        client.lock(KEY).run_blocking(|_| ()).unwrap();
    }
    assert_eq!(lock_runtime::__departures(), before);
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
        lure(&client).await;
        let before = (connection(&server), lock_runtime::__departures());
        let started = Instant::now();
        while started.elapsed() < ms(3_500) {
            cycle(&client).await;
        }
        assert!(held.is_valid());
        held.release().await.expect("it was held throughout");
        assert!(
            lock_runtime::__departures() > before.1,
            "no renewal called it home"
        );
        assert_eq!(connection(&server), before.0);
    });
}

/// A caller that blocks leaves its waiting to the background, where the message of its grant has to
/// come: no cycle takes the connection away from there between two polls.
#[test]
fn it_stays_in_the_background_while_that_waits_for_a_grant() {
    const POLLS: usize = 6;
    let _alone = alone();
    let server = RedisServer::start();
    let other = client(server.url());
    let guard = other.lock("waited for").acquire_blocking().unwrap();
    let runtime = current_thread();
    let ours = runtime.block_on(async { client(server.url()) });
    let waiting = ours.lock("waited for").wait(LONG * 2);
    let waiter = thread(move || waiting.run_blocking(|_| ()));
    runtime.block_on(async {
        eventually("waiter", LONG, async || {
            ask::<i64>(&mut server.connection(), &["ZCARD", "{lock:waited for}:w"]) > 0
        })
        .await;
        let mut monitor = server.monitor();
        let (before, mut polls) = (lock_runtime::__departures(), 0);
        eventually("polls", LONG, async || {
            cycle(&ours).await;
            let commands = monitor.take();
            polls += commands
                .iter()
                .filter(|it| it.text.contains("waited for"))
                .count();
            polls >= POLLS
        })
        .await;
        // Each poll calls it home. It may leave in the moment in which one ends and the next begins.
        let left = lock_runtime::__departures() - before;
        assert!(
            left * 2 < POLLS as u64,
            "it left {left} times in {polls} polls"
        );
        guard.release().await.unwrap();
    });
    waiter.join().unwrap().expect("it is granted");
}

#[test]
#[should_panic(expected = "IO is disabled")]
fn a_runtime_without_io_is_found_out_when_the_client_is_made() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let _inside = runtime.enter();
    let _ = LockClient::builder().url("redis://127.0.0.1:1").build();
}

#[test]
fn a_runtime_without_anything_will_do_for_the_background() {
    let _alone = alone();
    let server = RedisServer::start();
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let client = LockClient::builder()
            .url(server.url())
            .background_only(true);
        cycle(&client.connect().await.unwrap()).await;
        let inside = LockClient::memory();
        inside.lock(KEY).run_blocking(|_| ()).unwrap();
    });
}
