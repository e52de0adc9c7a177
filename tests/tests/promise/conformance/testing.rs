//! The test support of a memory client: locks that are busy or lost on purpose.

use lock_runtime::testing::{lose, occupy};
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard};
use tokio::time::Instant;

use super::tools::{KEY, hold, ms};

fn attempt(client: &LockClient) -> Result<Option<LockGuard>, LockError> {
    client.lock(KEY).try_acquire_blocking()
}

#[test]
fn an_occupied_lock_is_busy_until_its_stranger_goes_away() {
    let client = LockClient::memory();
    let stranger = occupy(&client, KEY, "api-7").unwrap();
    let acquire = client.lock(KEY).wait(ms(0));
    let busy = acquire.acquire_blocking().unwrap_err();
    assert_eq!((busy.is_busy(), busy.holder()), (true, Some("api-7")));
    let again = occupy(&client, KEY, "api-8").unwrap_err();
    assert_eq!((again.is_busy(), again.key()), (true, Some(KEY)));
    drop(stranger);
    assert!(attempt(&client).unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_waiter_is_served_when_the_stranger_goes_away() {
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
    assert!(next.fencing_token() > guard.fencing_token());
    assert!(guard.release().await.unwrap_err().is_lost());
    assert!(
        next.is_valid(),
        "the loser's release is none of its business"
    );
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
fn other_clients_are_left_alone() {
    let client = LockClient::builder().url("redis://127.0.0.1:1");
    let client = client.build().unwrap();
    for error in [
        occupy(&client, KEY, "").unwrap_err(),
        lose(&client, KEY).unwrap_err(),
    ] {
        assert_eq!(error.kind(), LockErrorKind::InvalidOptions);
        assert!(error.to_string().contains("memory"), "{error}");
    }
    let memory = LockClient::memory();
    let error = occupy(&memory, "", "api-7").unwrap_err();
    assert_eq!(error.kind(), LockErrorKind::InvalidKey);
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
