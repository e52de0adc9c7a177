//! Many callers for one lock.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::RedisServer;
use tokio::task::JoinSet;

use super::{KEY, LONG, client, hold, ms, nothing_is_left, soon};

const CALLERS: usize = 200;

#[tokio::test]
async fn two_hundred_callers_of_one_client_are_served_in_order() {
    let server = RedisServer::start();
    let client = client(server.url());
    let guard = soon(hold(&client)).await;
    let served = Arc::new(Mutex::new(Vec::new()));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (client, served) = (client.clone(), served.clone());
        callers.spawn(async move {
            let guard = client.lock(KEY).wait(LONG * 2).acquire().await.unwrap();
            served.lock().unwrap().push(caller);
            guard.release().await.unwrap();
        });
        tokio::task::yield_now().await;
    }
    guard.release().await.unwrap();
    while let Some(caller) = soon(callers.join_next()).await {
        caller.unwrap();
    }
    assert_eq!(*served.lock().unwrap(), (0..CALLERS).collect::<Vec<_>>());
    nothing_is_left(&mut server.connection(), ms(5_000)).await;
}

#[tokio::test]
async fn callers_that_leave_wake_and_strand_no_other_caller() {
    let server = RedisServer::start();
    let clients = [
        client(server.url()),
        client(server.url()),
        client(server.url()),
    ];
    let guard = soon(hold(&clients[0])).await;
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let client = clients[caller % 3].clone();
        // Every second caller leaves, by a timeout or by an abort.
        let patience = match caller % 4 {
            0 => ms(5 + caller as u64),
            _ => LONG * 2,
        };
        callers.spawn(async move {
            let waiting = client.lock(KEY).wait(patience).acquire();
            let limit = match caller % 4 {
                1 => ms(10 + caller as u64),
                _ => Duration::MAX,
            };
            match tokio::time::timeout(limit, waiting).await {
                Ok(Ok(guard)) => guard.release().await.is_ok(),
                Ok(Err(error)) if error.is_busy() => false,
                Ok(Err(error)) => panic!("{error}"),
                Err(_) => false,
            }
        });
    }
    tokio::time::sleep(ms(60)).await;
    guard.release().await.unwrap();
    let mut served = 0;
    while let Some(caller) = soon(callers.join_next()).await {
        served += usize::from(caller.unwrap());
    }
    assert!(
        served >= CALLERS / 2,
        "{served} were served: all that stayed"
    );
    nothing_is_left(&mut server.connection(), ms(5_000)).await;
}
