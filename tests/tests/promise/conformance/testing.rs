//! The test support of a memory client: locks that are busy or lost on purpose.

use harness::{failed, patient, token_of};
use lock_runtime::testing::{disconnect, lose, occupy};
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard};
use tokio::time::Instant;

use super::tools::{KEY, LONG, hold, ms};

fn attempt(client: &LockClient) -> Result<Option<LockGuard>, LockError> {
    client.lock(KEY).try_acquire_blocking()
}

#[test]
fn an_occupied_lock_is_busy_until_it_is_dropped() {
    let ttl = ms(8_000);
    let builder = LockClient::builder().url("memory://").ttl(ttl);
    let client = builder.build().unwrap();
    let stranger = occupy(&client, KEY, "api-7").unwrap();
    for acquire in [client.lock(KEY), client.lock(KEY).read()] {
        let busy = acquire.wait(ms(0)).acquire_blocking().unwrap_err();
        assert_eq!((busy.is_busy(), busy.holder()), (true, Some("api-7")));
        assert_eq!(busy.retry_after(), Some(ttl));
    }
    let again = occupy(&client, KEY, "api-8").unwrap_err();
    assert_eq!((again.is_busy(), again.key()), (true, Some(KEY)));
    drop(stranger);
    assert!(attempt(&client).unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_waiter_is_served_when_an_occupied_lock_is_dropped() {
    let client = LockClient::memory();
    let stranger = occupy(&client, KEY, "api-7").unwrap();
    let started = Instant::now();
    let waiting = tokio::spawn(client.lock(KEY).wait(ms(60_000)).acquire());
    tokio::time::sleep(ms(40_000)).await;
    drop(stranger);
    waiting.await.unwrap().unwrap().release().await.unwrap();
    assert_eq!(
        started.elapsed(),
        ms(40_000),
        "it stays for ever, and no longer"
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_lock_goes_to_the_next_waiter() {
    let client = LockClient::memory();
    let guard = hold(&client).await;
    let next = tokio::spawn(client.lock(KEY).acquire());
    tokio::task::yield_now().await;
    let started = Instant::now();
    lose(&client, KEY).unwrap();
    tokio::time::timeout(ms(60_000), guard.lost())
        .await
        .expect("the loss is reported");
    let next = next.await.unwrap().unwrap();
    assert_eq!(started.elapsed(), ms(0));
    assert!(token_of(&next).await > token_of(&guard).await);
    assert!(guard.release().await.unwrap_err().is_lost());
    assert!(next.is_valid(), "the loser's release does not affect it");
    next.release().await.unwrap();
}

#[tokio::test]
async fn losing_a_lock_that_is_not_held_is_a_mistake() {
    let client = LockClient::memory();
    let nothing_to_lose = |when| {
        let error = lose(&client, KEY).unwrap_err();
        assert_eq!(error.kind(), LockErrorKind::InvalidOptions, "{when}");
        assert!(error.to_string().contains("no holder"), "{error}");
    };
    nothing_to_lose("free");
    let stranger = occupy(&client, KEY, "api-7").unwrap();
    nothing_to_lose("a stranger's");
    drop(stranger);
    let guard = hold(&client).await;
    lose(&client, KEY).unwrap();
    nothing_to_lose("lost");
    drop(guard);
}

#[test]
fn other_clients_are_not_affected() {
    let client = patient("redis://127.0.0.1:1");
    let client = client.build().unwrap();
    for error in [
        occupy(&client, KEY, "").unwrap_err(),
        lose(&client, KEY).unwrap_err(),
    ] {
        assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains("memory"), "{error}");
    }
    let memory = LockClient::memory();
    failed(occupy(&memory, "", "api-7"), LockErrorKind::InvalidKey);
}

#[tokio::test]
async fn every_reader_of_a_lost_lock_loses_it() {
    let client = LockClient::memory();
    let readers = [
        client.lock(KEY).read().acquire().await.unwrap(),
        client.lock(KEY).read().acquire().await.unwrap(),
    ];
    let writer = tokio::spawn(client.lock(KEY).write().acquire());
    tokio::task::yield_now().await;
    lose(&client, KEY).unwrap();
    let writer = writer.await.unwrap().unwrap();
    for reader in readers {
        assert!(!reader.is_valid());
        assert!(reader.release().await.unwrap_err().is_lost());
    }
    assert!(writer.is_valid());
    writer.release().await.unwrap();
}

fn assert_unavailable(error: &LockError) {
    assert_eq!(error.kind(), LockErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("cut off by its test"), "{error}");
    assert!(error.key().is_some() && error.holder().is_none(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn disconnected_client_is_unavailable_when_the_wait_is_over() {
    let client = LockClient::memory();
    let disconnected = disconnect(&client).unwrap();
    for wait in [0, 60_000].map(ms) {
        let lock = || client.clone().lock(KEY).wait(wait);
        for acquire in [
            lock(),
            lock().read(),
            lock().permits(3),
            client.lock_all([KEY, "order:43"]).wait(wait),
        ] {
            let started = Instant::now();
            let error = acquire.acquire().await.unwrap_err();
            assert_unavailable(&error);
            assert_eq!(started.elapsed(), wait);
            assert_eq!(error.waited(), Some(wait));
        }
    }
    assert_unavailable(&attempt(&client).unwrap_err());
    let blocking = client.lock(KEY).wait(ms(5)).acquire_blocking();
    assert_unavailable(&blocking.unwrap_err());
    // Another store is like another server.
    drop(hold(&LockClient::memory()).await);
    disconnected.reconnect();
    drop(hold(&client).await);
}

#[tokio::test(start_paused = true)]
async fn waiting_calls_go_on_when_the_client_is_reconnected() {
    let client = LockClient::memory();
    let disconnected = disconnect(&client).unwrap();
    let started = Instant::now();
    let lock = |key: &str| client.lock(key).wait(ms(60_000));
    let waiting = [lock(KEY), client.lock_all(["a", "b"]).wait(ms(60_000))];
    let waiting = waiting.map(|call| tokio::spawn(call.acquire()));
    let thread = {
        let call = lock("by a thread");
        std::thread::spawn(move || call.acquire_blocking().map(drop))
    };
    tokio::time::sleep(ms(40_000)).await;
    assert!(waiting.iter().all(|call| !call.is_finished()));
    drop(disconnected);
    for call in waiting {
        call.await.unwrap().unwrap().release().await.unwrap();
    }
    assert_eq!(started.elapsed(), ms(40_000));
    thread.join().unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn waiter_of_a_disconnected_client_is_served_when_it_is_reconnected() {
    let client = LockClient::memory();
    let guard = hold(&client).await;
    let next = tokio::spawn(client.lock(KEY).wait(ms(60_000)).acquire());
    let late = tokio::spawn(client.lock(KEY).wait(ms(10_000)).acquire());
    tokio::time::sleep(ms(5_000)).await;
    let disconnected = disconnect(&client).unwrap();
    guard.release().await.expect("it was held throughout");
    tokio::time::sleep(ms(20_000)).await;
    assert!(!next.is_finished(), "the release was not noticed");
    // Its wait ended meanwhile, and it cannot know whether the lock was free.
    assert_unavailable(&late.await.unwrap().unwrap_err());
    disconnected.reconnect();
    let started = Instant::now();
    next.await.unwrap().unwrap().release().await.unwrap();
    assert_eq!(started.elapsed(), ms(0));
}

#[tokio::test(start_paused = true)]
async fn held_lock_of_a_disconnected_client_stays_held() {
    let client = LockClient::memory();
    let outer = client.clone();
    let run = client.lock(KEY).run(async |guard| {
        let disconnected = disconnect(&outer).unwrap();
        assert_unavailable(&guard.renew().await.unwrap_err());
        // Longer than any lease.
        tokio::time::sleep(ms(86_400_000)).await;
        outer
            .lock(KEY)
            .run(async |_| ())
            .await
            .expect("no command is needed");
        assert!(guard.is_valid());
        disconnected.reconnect();
        guard.renew().await.unwrap();
    });
    run.await.unwrap();
    assert!(attempt(&client).unwrap().is_some());
}

#[tokio::test]
async fn lock_that_is_released_while_disconnected_is_free_afterwards() {
    let client = LockClient::memory();
    let (guard, other) = (hold(&client).await, client.lock("dropped"));
    let dropped = other.acquire().await.unwrap();
    let writer = client.lock("written").write().acquire().await.unwrap();
    let disconnected = disconnect(&client).unwrap();
    guard.release().await.unwrap();
    drop(dropped);
    assert!(writer.downgrade().await.unwrap_err().is_lost());
    disconnected.reconnect();
    for key in [KEY, "dropped", "written"] {
        assert!(
            client.lock(key).try_acquire().await.unwrap().is_some(),
            "{key}"
        );
    }
}

#[test]
fn client_stays_disconnected_until_every_disconnection_ends() {
    let client = LockClient::memory();
    let [first, second] = [
        disconnect(&client).unwrap(),
        disconnect(&client.clone()).unwrap(),
    ];
    first.reconnect();
    assert!(attempt(&client).unwrap_err().is_unavailable());
    drop(second);
    assert!(attempt(&client).unwrap().is_some());
    let away = patient("redis://127.0.0.1:1").build();
    failed(disconnect(&away.unwrap()), LockErrorKind::InvalidOptions);
}

/// A body loses its lock in its first poll, before its waker is registered for the loss, and then sleeps. Nothing else
/// would wake it.
#[tokio::test]
async fn body_that_loses_its_lock_during_a_poll_is_dropped_after_it() {
    let client = LockClient::memory();
    let told = client.clone();
    let call = client.lock(KEY).run(async move |_| {
        lose(&told, KEY).expect("it has the lock");
        std::future::pending::<()>().await;
    });
    // In a task of its own: otherwise the timeout would poll it as well.
    let outcome = tokio::time::timeout(LONG, tokio::spawn(call)).await;
    let outcome = outcome.expect("it is stopped").unwrap();
    assert!(outcome.unwrap_err().is_lost());
}
