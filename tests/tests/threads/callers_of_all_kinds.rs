//! A lease that is handed over between callers of all kinds.

use std::thread::Builder;

use harness::{KEY, LONG, eventually, hold, server_and_client, token_of};
use tokio::runtime;

/// A thread that waits for the lock.
const BLOCKED: &str = "blocked-caller";

/// From a task to a blocked thread, and back.
#[test]
fn a_lease_is_handed_over_between_callers_of_all_kinds() {
    let _alone = crate::alone();
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(pass_around());
}

async fn pass_around() {
    let (_server, client) = server_and_client();
    let first = hold(&client).await;
    let token = token_of(&first).await.get();
    let blocking = Builder::new().name(BLOCKED.to_owned()).spawn({
        let client = client.clone();
        move || client.lock(KEY).wait(LONG).acquire_blocking()
    });
    let blocking = blocking.unwrap();
    // By now the thread is in the local queue, without a command, since its own client has the lock.
    eventually("thread that sleeps", LONG, async || {
        crate::statuses(BLOCKED).any(|status| status.contains("State:\tS"))
    })
    .await;
    first.release().await.unwrap();
    let second = blocking.join().unwrap().unwrap();
    assert_eq!(token_of(&second).await.get(), token + 1);
    let third = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    tokio::task::spawn_blocking(move || second.release_blocking())
        .await
        .unwrap()
        .unwrap();
    let third = third.await.unwrap().unwrap();
    assert_eq!(token_of(&third).await.get(), token + 2);
    third.release().await.unwrap();
}
