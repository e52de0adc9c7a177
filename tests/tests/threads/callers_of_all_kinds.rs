//! A lease that passes between callers of all kinds.

use std::fs;
use std::thread::Builder;

use harness::{KEY, LONG, eventually, hold, server_and_client};
use tokio::runtime;

/// A thread that waits for the lock.
const BLOCKED: &str = "blocked-caller";

/// Whether the thread of this name sleeps, according to the kernel.
fn is_asleep(name: &str) -> bool {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let threads = threads.map(|thread| thread.unwrap().path());
    // A thread that ends meanwhile has no state.
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let mut named = threads.filter(|thread| read(thread.join("comm")).trim() == name);
    named.any(|thread| read(thread.join("status")).contains("State:\tS"))
}

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
    let token = first.fencing_token().await.unwrap().get();
    let blocking = Builder::new().name(BLOCKED.to_owned()).spawn({
        let client = client.clone();
        move || client.lock(KEY).wait(LONG).acquire_blocking()
    });
    let blocking = blocking.unwrap();
    // The thread is in the local queue by then, without a command, since its own client has the lock.
    eventually("thread that sleeps", LONG, async || is_asleep(BLOCKED)).await;
    first.release().await.unwrap();
    let second = blocking.join().unwrap().unwrap();
    assert_eq!(second.fencing_token().await.unwrap().get(), token + 1);
    let third = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    tokio::task::spawn_blocking(move || second.release_blocking())
        .await
        .unwrap()
        .unwrap();
    let third = third.await.unwrap().unwrap();
    assert_eq!(third.fencing_token().await.unwrap().get(), token + 2);
    third.release().await.unwrap();
}
