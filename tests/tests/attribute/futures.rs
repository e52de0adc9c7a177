//! Functions that return a future, and the futures of async functions.
#![allow(clippy::manual_async_fn, reason = "the point of these functions")]

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};

use lock_runtime::{LockClient, distributed_lock};
use tracing::Instrument as _;

use super::{AppError, held};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// The `Result` is hidden in uses of these aliases.
type DbFuture<'a, T> = BoxFuture<'a, Result<T, AppError>>;
type UnitFuture<'a> = DbFuture<'a, ()>;

#[distributed_lock(key = "f:<id>", client = locks)]
fn opaque(locks: &LockClient, id: u8) -> impl Future<Output = Result<u8, AppError>> + Send {
    async move {
        assert!(held(locks, "f:1"));
        Ok(id)
    }
}

#[distributed_lock(key = "f:<id>", client = locks)]
fn pinned<'a>(
    locks: &'a LockClient,
    id: &'a u8,
) -> Pin<Box<dyn Future<Output = Result<u8, AppError>> + Send + 'a>> {
    Box::pin(async move {
        assert!(held(locks, "f:1"));
        if *id == 0 {
            return Err(AppError::Own);
        }
        Ok(*id)
    })
}

#[distributed_lock(key = "f:<id>", client = locks)]
fn boxed(locks: &LockClient, id: u8) -> BoxFuture<'_, Result<u8, AppError>> {
    let doubled = id * 2;
    assert!(
        held(locks, "f:1"),
        "statements before the block are under the lock"
    );
    Box::pin(async move { Ok(doubled) })
}

#[distributed_lock(key = "f", client = locks)]
fn counting<'a>(
    locks: &'a LockClient,
    calls: &'a AtomicU8,
) -> impl Future<Output = Result<u8, AppError>> + 'a {
    calls.fetch_add(1, Ordering::Relaxed);
    async move { Ok(calls.load(Ordering::Relaxed)) }
}

#[distributed_lock(key = "f", client = locks)]
fn aliased(locks: &LockClient) -> DbFuture<'_, u8> {
    Box::pin(async move {
        if !held(locks, "f") {
            return Err(AppError::Own);
        }
        Ok(1)
    })
}

#[distributed_lock(key = "f", client = locks)]
fn aliased_unit(locks: &LockClient) -> UnitFuture<'_> {
    Box::pin(async move {
        assert!(held(locks, "f"));
        Ok(())
    })
}

/// Ends like a method under `#[async_trait]`, and is none.
#[distributed_lock(key = "f", client = locks, or_else = |error| panic!("{error}"))]
fn like_async_trait(locks: &LockClient, calls: &AtomicU8) -> impl Future<Output = ()> {
    async move {
        let before = calls.fetch_add(u8::from(held(locks, "f")), Ordering::Relaxed);
        let _: () = assert_eq!(before, 0);
    }
}

#[distributed_lock(key = "f", client = locks)]
fn instrumented(locks: &LockClient) -> impl Future<Output = Result<u8, AppError>> {
    let one = 1;
    async move {
        assert!(held(locks, "f"));
        Ok(one)
    }
    .instrument(tracing::info_span!("instrumented"))
}

#[tokio::test]
async fn a_span_may_stand_around_the_block() {
    assert_eq!(instrumented(&LockClient::memory()).await.unwrap(), 1);
}

#[tokio::test]
async fn a_lookalike_of_async_trait_runs_under_the_lock() {
    let (locks, calls) = (LockClient::memory(), AtomicU8::new(0));
    like_async_trait(&locks, &calls).await;
    assert_eq!(calls.load(Ordering::Relaxed), 1, "it ran unlocked");
}

#[tokio::test]
async fn an_alias_may_hide_the_result() {
    let locks = LockClient::memory();
    assert_eq!(aliased(&locks).await.unwrap(), 1);
    aliased_unit(&locks).await.unwrap();
}

#[tokio::test]
async fn the_tail_block_is_locked() {
    let locks = LockClient::memory();
    assert_eq!(opaque(&locks, 1).await.unwrap(), 1);
    assert_eq!(pinned(&locks, &1).await.unwrap(), 1);
    assert_eq!(boxed(&locks, 1).await.unwrap(), 2);
    assert!(!held(&locks, "f:1"));
}

#[tokio::test]
async fn nothing_runs_before_the_future_is_polled() {
    let (locks, calls) = (LockClient::memory(), AtomicU8::new(0));
    let future = counting(&locks, &calls);
    assert_eq!(
        calls.load(Ordering::Relaxed),
        0,
        "it would have run unlocked"
    );
    assert_eq!(future.await.unwrap(), 1);
}

#[test]
fn a_future_stays_send() {
    #[distributed_lock(key = "<*id>", ttl = "10s", client = locks)]
    async fn plain<T: Sync>(locks: &LockClient, id: &u8, item: &T) -> Result<(), AppError> {
        let _ = (id, item);
        tokio::task::yield_now().await;
        Ok(())
    }

    // A key and a client whose expressions create values that are not `Send`.
    #[distributed_lock(key = std::rc::Rc::new(String::from("k")).to_string(), client = std::rc::Rc::new(locks))]
    async fn temporaries(locks: &LockClient) -> Result<(), AppError> {
        Ok(())
    }

    fn assert_send<T: Send>(_: T) {}
    let locks = LockClient::memory();
    assert_send(plain(&locks, &1, &2));
    assert_send(temporaries(&locks));
    assert_send(opaque(&locks, 1));
}

#[test]
fn a_future_stays_sync() {
    #[distributed_lock(key = "<*id>", ttl = "10s", client = locks, guard = held)]
    async fn plain<T: Sync>(locks: &LockClient, id: &u8, item: &T) -> Result<(), AppError> {
        let _ = (held, id, item);
        tokio::task::yield_now().await;
        Ok(())
    }

    #[distributed_lock(key = "boxed", client = locks)]
    fn boxed(
        locks: &LockClient,
    ) -> Pin<Box<dyn Future<Output = Result<(), AppError>> + Send + Sync + '_>> {
        Box::pin(async move { Ok(()) })
    }

    fn assert_sync<T: Sync>(_: T) {}
    let locks = LockClient::memory();
    assert_sync(plain(&locks, &1, &2));
    assert_sync(boxed(&locks));
    assert_sync(opaque(&locks, 1));
}

/// A body and its arguments are stored once, beside the state of acquiring and releasing.
#[test]
fn the_future_is_little_larger_than_its_body() {
    const BODY: usize = 2048;

    async fn bare(_: &LockClient, data: [u8; BODY]) -> Result<u8, AppError> {
        tokio::task::yield_now().await;
        Ok(data[0])
    }

    #[distributed_lock(key = "size", client = locks)]
    async fn locked(locks: &LockClient, data: [u8; BODY]) -> Result<u8, AppError> {
        tokio::task::yield_now().await;
        Ok(data[0])
    }

    let locks = LockClient::memory();
    let bare = size_of_val(&bare(&locks, [0; BODY]));
    let locked = size_of_val(&locked(&locks, [0; BODY]));
    let arguments = BODY + size_of::<&LockClient>();
    assert!(
        locked <= bare + arguments + 256,
        "{locked} bytes for a body of {bare} with arguments of {arguments}"
    );
}
