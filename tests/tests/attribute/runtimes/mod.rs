//! One client of the whole process, installed once, and a runtime for every `#[tokio::test]`. Each
//! runtime begins, uses locks, leaves some of them held, and ends.

mod stage;

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};

use harness::{LONG, soon};
use lock_runtime::{LockClient, LockError, distributed_lock};

use stage::Left;

/// Whether a caller is in the body that all tests want.
static INSIDE: AtomicBool = AtomicBool::new(false);

#[distributed_lock(key = "of-all", ttl = "5s", wait = "60s")]
async fn alone() -> Result<(), LockError> {
    assert!(!INSIDE.swap(true, Ordering::SeqCst), "two are inside");
    nested().await?;
    tokio::task::yield_now().await;
    INSIDE.store(false, Ordering::SeqCst);
    Ok(())
}

#[distributed_lock(key = "of-all")]
async fn nested() -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(key = "of-all", ttl = "5s", wait = "60s")]
fn alone_without_async() -> Result<(), LockError> {
    assert!(!INSIDE.swap(true, Ordering::SeqCst), "two are inside");
    INSIDE.store(false, Ordering::SeqCst);
    Ok(())
}

/// The steps of each test. Locks that it holds or waits for at its end are dropped with its runtime.
async fn use_locks(name: &str) {
    let _visit = stage::enter();
    let client = LockClient::installed().expect("the first visit installs one");
    for key in stage::gone() {
        // However its holder ended.
        drop(soon(client.lock(key).wait(LONG).acquire()).await.unwrap());
    }
    for _ in 0..5 {
        soon(alone()).await.unwrap();
    }
    alone_without_async().unwrap();

    let guard = client.lock(name).acquire().await.unwrap();
    let held = (guard, Left::with(name));
    tokio::spawn(async move {
        let _held = held;
        pending::<()>().await;
    });
    tokio::spawn(client.lock(name).wait(LONG).acquire());
    tokio::spawn(client.lock("of-all").wait(LONG).acquire());
    tokio::task::yield_now().await;
}

macro_rules! tests {
    ($($name:ident)*) => {
        mod alone {
            $(#[tokio::test]
            async fn $name() {
                crate::runtimes::use_locks(concat!("alone-", stringify!($name))).await;
            })*
        }

        mod with_workers {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::runtimes::use_locks(concat!("workers-", stringify!($name))).await;
            })*
        }
    };
}

tests! { a b c d e f g h i j k l m n o p }
