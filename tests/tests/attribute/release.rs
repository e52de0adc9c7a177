//! The lock is held throughout the body and given back however the body ends.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use lock_runtime::{LockClient, LockErrorKind, distributed_lock};
use tokio::sync::Notify;

use super::{AppError, assert_released, held};

#[derive(Clone, Copy, PartialEq)]
enum End {
    Value,
    Return,
    Question,
    Panic,
}

fn failing() -> Result<(), AppError> {
    Err(AppError::Own)
}

#[distributed_lock(key = "end", client = locks)]
async fn ending(locks: &LockClient, end: End) -> Result<u8, AppError> {
    assert!(held(locks, "end"));
    tokio::task::yield_now().await;
    assert!(held(locks, "end"));
    match end {
        End::Return => return Ok(2),
        End::Question => failing()?,
        End::Panic => panic!("in the body"),
        End::Value => (),
    }
    Ok(1)
}

#[distributed_lock(key = "end", client = locks)]
fn ending_blocking(locks: &LockClient, end: End) -> Result<u8, AppError> {
    assert!(held(locks, "end"));
    match end {
        End::Return => return Ok(2),
        End::Question => failing()?,
        End::Panic => panic!("in the body"),
        End::Value => (),
    }
    Ok(1)
}

#[tokio::test]
async fn an_async_body_that_returns() {
    let locks = LockClient::memory();
    assert_eq!(ending(&locks, End::Value).await.unwrap(), 1);
    assert!(!held(&locks, "end"), "released before the call returned");
    assert_eq!(ending(&locks, End::Return).await.unwrap(), 2);
    assert!(!held(&locks, "end"));
    assert!(matches!(
        ending(&locks, End::Question).await,
        Err(AppError::Own)
    ));
    assert!(!held(&locks, "end"));
}

#[test]
fn a_sync_body_that_returns() {
    let locks = LockClient::memory();
    assert_eq!(ending_blocking(&locks, End::Value).unwrap(), 1);
    assert!(!held(&locks, "end"), "released before the call returned");
    assert_eq!(ending_blocking(&locks, End::Return).unwrap(), 2);
    assert!(!held(&locks, "end"));
    assert!(matches!(
        ending_blocking(&locks, End::Question),
        Err(AppError::Own)
    ));
    assert!(!held(&locks, "end"));
}

#[tokio::test]
async fn an_async_body_that_panics() {
    let locks = LockClient::memory();
    let panicking = {
        let locks = locks.clone();
        tokio::spawn(async move { ending(&locks, End::Panic).await })
    };
    let panic = panicking.await.unwrap_err().into_panic();
    assert_eq!(
        panic.downcast_ref::<&str>(),
        Some(&"in the body"),
        "the panic goes on"
    );
    assert_released(&locks, "end");
}

#[test]
fn a_sync_body_that_panics() {
    let locks = LockClient::memory();
    let panic = catch_unwind(AssertUnwindSafe(|| ending_blocking(&locks, End::Panic))).unwrap_err();
    assert_eq!(
        panic.downcast_ref::<&str>(),
        Some(&"in the body"),
        "the panic goes on"
    );
    assert_released(&locks, "end");
}

#[distributed_lock(key = "cancelled", client = locks)]
async fn sleeping(locks: &LockClient, started: &Notify) -> Result<(), AppError> {
    started.notify_one();
    pending().await
}

#[tokio::test]
async fn a_call_that_is_dropped() {
    let locks = LockClient::memory();
    let started = Arc::new(Notify::new());
    let call = {
        let (locks, started) = (locks.clone(), started.clone());
        tokio::spawn(async move { sleeping(&locks, &started).await })
    };
    started.notified().await;
    assert!(held(&locks, "cancelled"));
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert_released(&locks, "cancelled");
}

#[tokio::test]
async fn a_body_does_not_start_while_another_holds_the_lock() {
    #[distributed_lock(key = "busy", wait = "0s", client = locks)]
    async fn asynchronous(locks: &LockClient, ran: &mut bool) -> Result<(), AppError> {
        *ran = true;
        Ok(())
    }

    #[distributed_lock(key = "busy", wait = "0s", client = locks)]
    fn synchronous(locks: &LockClient, ran: &mut bool) -> Result<(), AppError> {
        *ran = true;
        Ok(())
    }

    let locks = LockClient::memory();
    let _elsewhere = locks.lock("busy").acquire().await.unwrap();
    let mut ran = false;
    for outcome in [
        asynchronous(&locks, &mut ran).await,
        synchronous(&locks, &mut ran),
    ] {
        assert!(
            matches!(outcome, Err(AppError::Lock(error)) if error.kind() == LockErrorKind::Busy)
        );
    }
    assert!(!ran);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_loses_its_lock_is_dropped() {
    #[distributed_lock(key = "lost", ttl = "1s", renew = false, client = locks)]
    async fn overlong(locks: &LockClient, finished: &mut bool) -> Result<(), AppError> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        *finished = true;
        Ok(())
    }

    let locks = LockClient::memory();
    let mut finished = false;
    let outcome = overlong(&locks, &mut finished).await;
    assert!(matches!(outcome, Err(AppError::Lock(error)) if error.is_lost()));
    assert!(!finished);
}

#[tokio::test(start_paused = true)]
async fn the_bodys_own_error_is_not_masked_by_a_loss() {
    #[distributed_lock(key = "lost", ttl = "1s", renew = false, on_lost = "finish", client = locks)]
    async fn failing(locks: &LockClient) -> Result<(), AppError> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Err(AppError::Own)
    }

    let outcome = failing(&LockClient::memory()).await;
    assert!(matches!(outcome, Err(AppError::Own)));
}

#[test]
fn a_sync_body_that_fails_by_itself_says_so_after_a_loss() {
    #[distributed_lock(key = "lost", ttl = "300ms", renew = false, guard = lock, client = locks)]
    fn outlived(locks: &LockClient, own: bool) -> Result<(), AppError> {
        while lock.is_valid() {
            std::thread::yield_now();
        }
        if own { Err(AppError::Own) } else { Ok(()) }
    }

    let locks = LockClient::memory();
    assert!(matches!(outlived(&locks, true), Err(AppError::Own)));
    assert!(matches!(outlived(&locks, false), Err(AppError::Lock(error)) if error.is_lost()));
}
