//! Other attributes above and below `#[distributed_lock]`.

use lock_runtime::{LockClient, distributed_lock};

use super::{AppError, held};

#[distributed_lock(key = "s:<id>", client = locks)]
#[tracing::instrument(skip(locks))]
async fn above_instrument(locks: &LockClient, id: u8) -> Result<u8, AppError> {
    assert!(held(locks, "s:1"));
    Ok(id)
}

#[tracing::instrument(skip(locks))]
#[distributed_lock(key = "s:<id>", client = locks)]
async fn below_instrument(locks: &LockClient, id: u8) -> Result<u8, AppError> {
    assert!(held(locks, "s:1"));
    if id == 0 {
        return Err(AppError::Own);
    }
    Ok(id)
}

#[tracing::instrument(skip_all, err)]
#[distributed_lock(key = "s:<id>", client = locks)]
fn below_instrument_blocking(locks: &LockClient, id: u8) -> Result<u8, AppError> {
    assert!(held(locks, "s:1"));
    Ok(id)
}

#[distributed_lock(key = "s:<id>", client = locks)]
#[async_recursion::async_recursion]
async fn above_recursion(locks: &LockClient, id: u8) -> Result<u8, AppError> {
    match id {
        0 => Ok(0),
        _ => Ok(1 + above_recursion(locks, id - 1).await?),
    }
}

#[async_recursion::async_recursion]
#[distributed_lock(key = "s:<id>", client = locks)]
async fn below_recursion(locks: &LockClient, id: u8) -> Result<u8, AppError> {
    match id {
        0 => Ok(0),
        _ => Ok(1 + below_recursion(locks, id - 1).await?),
    }
}

#[tokio::test]
async fn either_way_round() {
    let locks = LockClient::memory();
    assert_eq!(above_instrument(&locks, 1).await.unwrap(), 1);
    assert_eq!(below_instrument(&locks, 1).await.unwrap(), 1);
    assert_eq!(below_instrument_blocking(&locks, 1).unwrap(), 1);
    assert_eq!(above_recursion(&locks, 3).await.unwrap(), 3);
    assert_eq!(below_recursion(&locks, 3).await.unwrap(), 3);
}

#[distributed_lock(key = "test", client = LockClient::memory(), guard = lock, or_else = |error| panic!("{error}"))]
#[tokio::test]
async fn above_a_tokio_test() {
    assert!(lock.is_valid());
}

#[distributed_lock(key = "test", client = LockClient::memory(), guard = lock, or_else = |error| panic!("{error}"))]
#[test]
fn above_a_test() {
    assert!(lock.is_valid());
}

#[test]
#[distributed_lock(key = "test", client = LockClient::memory(), guard = lock, or_else = |error| panic!("{error}"))]
fn below_a_test() {
    assert!(lock.is_valid());
}
