//! Clients that are installed for one future, in a process where other tests install one for all.

use std::future::{pending, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use lock_runtime::testing::with_installed;
use lock_runtime::{LockClient, LockError, distributed_lock};

use super::held;

const KEY: &str = "of-one-future";

/// Returns which of the clients has the lock.
#[distributed_lock(key = "of-one-future", wait = "0s")]
async fn holder(clients: &[&LockClient]) -> Result<Vec<bool>, LockError> {
    tokio::task::yield_now().await;
    Ok(clients.iter().map(|client| held(client, KEY)).collect())
}

#[distributed_lock(key = "of-one-future", wait = "0s")]
fn blocking_holder(clients: &[&LockClient]) -> Result<Vec<bool>, LockError> {
    Ok(clients.iter().map(|client| held(client, KEY)).collect())
}

/// Whether the installed client is this one.
fn is_installed(client: &LockClient) -> bool {
    let Ok(installed) = LockClient::installed() else {
        return false;
    };
    is_same(&installed, client)
}

fn is_same(one: &LockClient, other: &LockClient) -> bool {
    // The process's client may have lost its server by now; a client in memory never fails.
    let Ok(Some(_guard)) = one.lock(KEY).try_acquire_blocking() else {
        return false;
    };
    held(other, KEY)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn futures_at_the_same_time_have_clients_of_their_own() {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        tasks.spawn(async {
            let (client, other) = (LockClient::memory(), LockClient::memory());
            for _ in 0..50 {
                let clients = [&client, &other];
                let found = with_installed(&client, holder(&clients)).await;
                assert_eq!(found.unwrap(), [true, false]);
                let found = with_installed(&other, async { blocking_holder(&clients) }).await;
                assert_eq!(found.unwrap(), [false, true]);
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
}

#[tokio::test]
async fn outer_client_is_back_after_the_inner_future() {
    let (outer, inner) = (LockClient::memory(), LockClient::memory());
    with_installed(&outer, async {
        assert!(is_installed(&outer));
        with_installed(&inner, async {
            assert!(is_installed(&inner));
            tokio::task::yield_now().await;
            assert!(is_installed(&inner));
        })
        .await;
        assert!(is_installed(&outer));
    })
    .await;
    assert!(!is_installed(&outer) && !is_installed(&inner));
}

#[tokio::test]
async fn client_is_not_installed_between_two_polls_of_its_future() {
    let client = LockClient::memory();
    let mut scoped = pin!(with_installed(&client, pending::<()>()));
    poll_fn(|cx| {
        assert!(scoped.as_mut().poll(cx).is_pending());
        assert!(!is_installed(&client));
        Poll::Ready(())
    })
    .await;
    let spawned = async { tokio::task::spawn_blocking(LockClient::installed).await };
    let installed = with_installed(&client, spawned).await.unwrap();
    assert!(
        !installed.is_ok_and(|installed| is_same(&installed, &client)),
        "what it spawns is not part of it"
    );
}

#[test]
fn future_that_panics_leaves_no_client_behind() {
    let client = LockClient::memory();
    let mut scoped = Box::pin(with_installed(&client, async { panic!("the test fails") }));
    let mut context = Context::from_waker(Waker::noop());
    let poll = AssertUnwindSafe(|| scoped.as_mut().poll(&mut context));
    let panicked: std::thread::Result<Poll<()>> = std::panic::catch_unwind(poll);
    assert!(panicked.is_err());
    assert!(!is_installed(&client));
}

#[test]
fn destructors_of_the_future_have_the_client() {
    struct Check(LockClient);

    impl Drop for Check {
        fn drop(&mut self) {
            assert!(is_installed(&self.0));
        }
    }

    let client = LockClient::memory();
    let check = Check(client.clone());
    drop(with_installed(&client, async move {
        let _check = check;
    }));
    assert!(!is_installed(&client));
}
