//! A lease that passes between callers of all kinds.
//!
//! One test in a process of its own, since it counts what the whole process does in the background.

use harness::{KEY, LONG, RedisServer, client, eventually, hold, ms};

/// From a task to a thread that blocks for it, and back.
#[tokio::test]
async fn a_lease_passes_between_callers_of_all_kinds() {
    let server = RedisServer::start();
    let client = client(server.url());
    let first = hold(&client).await;
    let token = first.fencing_token().get();
    // The task that connected may end a little after it has told so.
    let mut idle = usize::MAX;
    for _ in 0..50 {
        idle = idle.min(lock_runtime::__private::inspect::background_tasks());
        tokio::time::sleep(ms(2)).await;
    }
    let blocking = std::thread::spawn({
        let client = client.clone();
        move || client.lock(KEY).wait(LONG).acquire_blocking()
    });
    eventually("call in the background", LONG, async || {
        let tasks = lock_runtime::__private::inspect::background_tasks();
        idle = idle.min(tasks);
        tasks > idle
    })
    .await;
    // Carried out there as well, after the other has begun to wait in line.
    first.renew().await.unwrap();
    first.release().await.unwrap();
    let second = blocking.join().unwrap().unwrap();
    assert_eq!(second.fencing_token().get(), token + 1);
    let third = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    tokio::task::spawn_blocking(move || second.release_blocking())
        .await
        .unwrap()
        .unwrap();
    let third = third.await.unwrap().unwrap();
    assert_eq!(third.fencing_token().get(), token + 2);
    third.release().await.unwrap();
}
