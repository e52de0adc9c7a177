//! The futures of locked functions: as lazy, `Send` and `Sync` as without the attribute, and little larger.
#![allow(clippy::manual_async_fn, reason = "the point of these functions")]

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use lock_runtime::{LockClient, LockGuard, distributed_lock};

use super::check::AppError;

type Answer<T = ()> = Result<T, AppError>;

#[distributed_lock(key = "<*id>", ttl = "10s", client = locks, guard = held)]
async fn plain<T: Sync>(locks: &LockClient, id: &u8, item: &T) -> Answer {
    let _: (&LockGuard, _, _) = (held, id, item);
    tokio::task::yield_now().await;
    Ok(())
}

/// A key and a client whose expressions create values that are not `Send`.
#[distributed_lock(key = Rc::new(String::from("k")).to_string(), client = Rc::new(locks))]
async fn temporaries(locks: &LockClient) -> Answer {
    Ok(())
}

#[distributed_lock(key = "opaque", client = locks)]
fn opaque(locks: &LockClient) -> impl Future<Output = Answer> + Send + '_ {
    async move { Ok(()) }
}

#[distributed_lock(key = "boxed", client = locks)]
fn boxed(locks: &LockClient) -> Pin<Box<dyn Future<Output = Answer> + Send + Sync + '_>> {
    Box::pin(async move { Ok(()) })
}

#[test]
fn futures_stay_send_and_sync() {
    fn assert_send<T: Send>(_: T) {}
    fn assert_sync<T: Sync>(_: T) {}

    let locks = LockClient::memory();
    assert_send(plain(&locks, &1, &2));
    assert_send(temporaries(&locks));
    assert_send(opaque(&locks));
    assert_sync(plain(&locks, &1, &2));
    assert_sync(opaque(&locks));
    assert_sync(boxed(&locks));
}

/// A body and its arguments are stored once, in addition to the state for acquiring and releasing.
#[test]
fn future_is_little_larger_than_its_body() {
    const BODY: usize = 2048;

    async fn bare(_: &LockClient, data: [u8; BODY]) -> Answer<u8> {
        tokio::task::yield_now().await;
        Ok(data[0])
    }

    #[distributed_lock(key = "size", client = locks)]
    async fn locked(locks: &LockClient, data: [u8; BODY]) -> Answer<u8> {
        tokio::task::yield_now().await;
        Ok(data[0])
    }

    let locks = LockClient::memory();
    let bare = std::mem::size_of_val(&bare(&locks, [0; BODY]));
    let locked = std::mem::size_of_val(&locked(&locks, [0; BODY]));
    let arguments = BODY + std::mem::size_of::<&LockClient>();
    assert!(
        locked <= bare + arguments + 256,
        "{locked} bytes for a body of {bare} with arguments of {arguments}"
    );
}

#[tokio::test]
async fn nothing_runs_before_the_future_is_polled() {
    #[distributed_lock(key = "lazy", client = locks)]
    fn counting<'a>(
        locks: &'a LockClient,
        calls: &'a Cell<u8>,
    ) -> impl Future<Output = Answer<u8>> + 'a {
        calls.set(calls.get() + 1);
        async move { Ok(calls.get()) }
    }

    let (locks, calls) = (LockClient::memory(), Cell::new(0));
    let future = counting(&locks, &calls);
    assert_eq!(calls.get(), 0, "it would have run unlocked");
    assert_eq!(future.await.unwrap(), 1);
}
