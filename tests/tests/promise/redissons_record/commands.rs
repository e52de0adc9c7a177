//! The commands of a call, and their bytes.

use harness::{LONG, ask, figure, soon};

use super::{KEY, client, start};

const CALLS: usize = 100;

/// Bytes to the server, for a key of eight bytes.
const BYTES: u64 = 350;

const READ: &str = "total_net_input_bytes";

#[tokio::test]
async fn call_without_contention_is_two_commands() {
    let (server, mut admin) = start();
    let client = client(&server);
    let call = async || {
        let guard = client.lock(KEY).acquire().await.unwrap();
        guard.release().await.unwrap();
    };
    call().await;
    let mut monitor = server.monitor();
    monitor.take();
    let before = figure(&mut admin, READ);
    for _ in 0..CALLS {
        call().await;
    }
    let bytes = figure(&mut admin, READ) - before;
    let names = monitor.names().into_iter().filter(|name| name != "INFO");
    assert_eq!(names.collect::<Vec<_>>(), vec!["EVALSHA"; 2 * CALLS]);
    let each = bytes / CALLS as u64;
    println!("{each} bytes a call");
    assert!(each <= BYTES, "{each}");
}

/// A turn inside the client would keep out waiters of other processes, which may have come first.
#[tokio::test]
async fn lease_is_not_handed_over() {
    let (server, mut admin) = start();
    let client = client(&server);
    let mut owner = || ask::<Vec<String>>(&mut admin, &["HKEYS", KEY]);
    let guard = client.lock(KEY).acquire().await.unwrap();
    let first = owner();
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::task::yield_now().await;
    guard.release().await.unwrap();
    let guard = soon(waiting).await.unwrap().unwrap();
    assert_ne!(owner(), first);
    guard.release().await.unwrap();
}
