//! Tasks that a body drives itself: their calls do not belong to the body.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use harness::soon;
use lock_runtime::{LockClient, LockGuard};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, oneshot};
use tokio::task::LocalSet;

use super::{at_once, ms};

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("it starts")
}

/// Whether the lock is available where this runs.
fn attempt(client: &LockClient) -> impl Future<Output = bool> + Send + 'static {
    let attempt = at_once(client).try_acquire();
    async { attempt.await.expect("the store answers").is_some() }
}

#[test]
fn a_task_that_a_blocking_body_drives_stays_outside() {
    let runtime = runtime();
    let client = LockClient::memory();
    let neighbour = runtime.spawn(attempt(&client));
    let body = |_: &LockGuard| runtime.block_on(neighbour).expect("it does not panic");
    assert!(!at_once(&client).run_blocking(body).unwrap());
}

#[test]
fn a_future_that_a_blocking_body_blocks_on_is_inside() {
    let runtime = runtime();
    let client = LockClient::memory();
    let body = |_: &LockGuard| runtime.block_on(attempt(&client));
    assert!(at_once(&client).run_blocking(body).unwrap());
}

#[tokio::test]
async fn a_local_task_that_a_body_drives_stays_outside() {
    let client = LockClient::memory();
    let tasks = LocalSet::new();
    let neighbour = tasks.spawn_local(attempt(&client));
    let body = async |_: &LockGuard| {
        let inside = tasks.run_until(attempt(&client)).await;
        let outside = tasks.run_until(neighbour).await;
        (inside, outside.expect("it does not panic"))
    };
    let (inside, outside) = at_once(&client).run(body).await.unwrap();
    assert!(inside, "a call that the body awaits on the set is inside");
    assert!(!outside);
}

#[tokio::test]
async fn a_body_that_moves_to_another_task_keeps_its_tree() {
    let client = LockClient::memory();
    let inside = client.clone();
    let (begun, begins) = oneshot::channel();
    let (go_on, goes_on) = oneshot::channel();
    let mut body = Box::pin(at_once(&client).run(async move |_: &LockGuard| {
        begun.send(()).expect("the test waits");
        goes_on.await.expect("the test sends");
        attempt(&inside).await
    }));
    tokio::select! {
        _ = &mut body => unreachable!("it waits for a message"),
        begun = begins => begun.expect("it begins"),
    }
    let body = tokio::spawn(body);
    go_on.send(()).expect("it waits");
    assert!(soon(body).await.unwrap().unwrap());
}

/// A thread's locals are dropped one by one, including the call tree's. A body that is dropped after it still releases
/// its lock, and does not panic: a panic would abort the process.
#[test]
fn a_body_can_be_dropped_with_the_locals_of_its_thread() {
    thread_local! {
        static LAST: RefCell<Option<Pin<Box<dyn Future<Output = ()>>>>> = const { RefCell::new(None) };
    }
    // From now on tokio's clock looks for the runtime of its thread, in a local that is dropped by then.
    runtime().block_on(async { tokio::time::pause() });
    let client = LockClient::memory();
    let lock = at_once(&client);
    let thread = std::thread::spawn(move || {
        // Registered first, dropped last.
        LAST.with(|last| drop(last.borrow_mut()));
        let begun = Rc::new(Notify::new());
        let begins = begun.clone();
        let mut asleep = Box::pin(async move {
            let body = async |_: &LockGuard| {
                begun.notify_one();
                std::future::pending::<()>().await;
            };
            lock.run(body).await.expect("it never ends");
        });
        runtime().block_on(async {
            tokio::select! {
                () = &mut asleep => unreachable!("it never ends"),
                () = begins.notified() => {}
            }
        });
        LAST.with(|last| *last.borrow_mut() = Some(asleep));
    });
    thread.join().expect("it does not panic");
    let free = client.lock(harness::KEY).wait(ms(5000)).acquire_blocking();
    let free = free.expect("the lock was released");
    free.release_blocking().expect("it was held throughout");
}
