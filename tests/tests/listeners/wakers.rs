//! Wakers of hand-written executors, which may panic when they are called.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use harness::{LONG, RedisServer, failed, patient, soon};
use lock_runtime::{LockClient, LockErrorKind};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// A waker that sends its task to an executor that is gone.
struct Angry;

impl Wake for Angry {
    fn wake(self: Arc<Self>) {
        resume_unwind(Box::new("the executor is gone"));
    }
}

pub(super) fn is_pending<F: Future>(future: Pin<&mut F>) -> bool {
    let waker = Waker::from(Arc::new(Angry));
    future.poll(&mut Context::from_waker(&waker)).is_pending()
}

#[tokio::test]
async fn a_waker_that_panics_at_its_turn_does_not_fail_the_release() {
    let server = RedisServer::start();
    for turns in [1, 16] {
        let client = patient(server.url()).local_turns(turns);
        let client = client.build().unwrap();
        let first = client.lock("turn").acquire().await.unwrap();
        let mut second = Box::pin(client.lock("turn").wait(LONG).acquire());
        assert!(is_pending(second.as_mut()));
        first.release().await.expect("it was held");
        let second = soon(second).await.expect("it is its turn");
        second.release().await.expect("it was held");
    }
}

#[tokio::test]
async fn a_waker_that_panics_at_a_shutdown_does_not_end_the_shutdown() {
    let server = RedisServer::start();
    let client = patient(server.url()).connect().await.unwrap();
    let first = client.lock("closing").acquire().await.unwrap();
    let mut second = Box::pin(client.lock("closing").wait(LONG).acquire());
    assert!(is_pending(second.as_mut()));
    let ends = async {
        failed(soon(second).await, LockErrorKind::Shutdown);
        first.release().await.expect("it was held");
    };
    tokio::join!(soon(client.shutdown()), ends);
}

#[tokio::test]
async fn a_waker_that_panics_does_not_fail_its_sibling() {
    let client = LockClient::memory();
    let outer = client.lock("siblings").acquire().await.unwrap();
    let body = async {
        let first = client.lock("siblings").acquire().await.unwrap();
        let mut second = Box::pin(client.lock("siblings").wait(LONG).acquire());
        assert!(is_pending(second.as_mut()));
        drop(first);
        drop(soon(second).await.unwrap());
    };
    outer.run(body).await.unwrap();
}

/// A waker whose first call acquires a lock of the store that calls it.
struct Curious(Mutex<Option<LockClient>>);

impl Wake for Curious {
    fn wake(self: Arc<Self>) {
        let client = self.0.lock().unwrap().take();
        drop(client.map(|client| client.lock("store").try_acquire_blocking()));
    }
}

#[tokio::test]
async fn a_waker_may_ask_for_a_lock_of_its_store() {
    let client = LockClient::memory();
    let first = client.lock("store").acquire().await.unwrap();
    let mut second = Box::pin(client.lock("store").wait(LONG).acquire());
    let curious = Waker::from(Arc::new(Curious(Mutex::new(Some(client.clone())))));
    let polled = second.as_mut().poll(&mut Context::from_waker(&curious));
    assert!(polled.is_pending());
    let (released, is_released) = oneshot::channel();
    std::thread::spawn(move || released.send(first.release_blocking()));
    let Ok(released) = timeout(LONG, is_released).await else {
        // Dropping `second` would block as well.
        std::mem::forget(second);
        panic!("the store is locked while it calls");
    };
    released.unwrap().expect("it was held");
    drop(soon(second).await.unwrap());
}
