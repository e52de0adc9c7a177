//! Connections that the server closes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Instant;

use harness::RedisServer;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::{
    KEY, LOCK, LONG, QUEUE, SLACK, ask, client, figure, hold, ms, nothing_is_left, served, soon,
};

#[tokio::test]
async fn a_storm_of_client_kills_is_weathered() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let clients = [client(server.url()), client(server.url())];
    let started = Instant::now();
    let inside = Arc::new(AtomicBool::new(false));
    let killed = Arc::new(AtomicI64::new(0));
    let mut callers = JoinSet::new();
    for caller in 0..6 {
        let client = clients[caller % 2].clone();
        let (inside, killed) = (inside.clone(), killed.clone());
        callers.spawn(async move {
            // Fewer kills are no storm.
            while started.elapsed() < ms(1_500) || killed.load(Ordering::SeqCst) <= 10 {
                // A release that is cut off may leave the lock to its ttl, so the ttl is short.
                let guard = client.lock(KEY).ttl(ms(2_000)).wait(LONG);
                let guard = guard.acquire().await.expect("each caller gets the lock");
                assert!(!inside.swap(true, Ordering::SeqCst), "two are inside");
                tokio::time::sleep(ms(3)).await;
                inside.store(false, Ordering::SeqCst);
                guard.release().await.expect("it was held throughout");
            }
        });
    }
    let mut kinds = ["normal", "pubsub"].into_iter().cycle();
    let mut storm = tokio::time::interval(ms(100));
    storm.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            caller = callers.join_next() => match caller {
                Some(caller) => caller.expect("no caller fails"),
                None => break,
            },
            _ = storm.tick() => {
                let kind = kinds.next().unwrap();
                let kill = ["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"];
                killed.fetch_add(ask(&mut connection, &kill), Ordering::SeqCst);
                assert!(started.elapsed() < LONG, "{killed:?} killed, and no end");
            }
        }
    }
    nothing_is_left(&mut connection, ms(5_000)).await;
    drop(clients);
}

#[tokio::test]
async fn a_hand_off_whose_push_is_lost_is_found_by_polling() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let (one, other) = (client(server.url()), client(server.url()));
    let guard = soon(hold(&one)).await;
    let waiting = tokio::spawn(other.lock(KEY).wait(LONG).acquire());
    harness::eventually("entry in the queue", LONG, async || {
        ask::<i64>(&mut connection, &["ZCARD", QUEUE]) == 2
    })
    .await;
    // The subscription and the commands share a connection; with RESP3 either kind may match.
    let started = Instant::now();
    for kind in ["pubsub", "normal"] {
        let kill = ["CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes"];
        let _: i64 = ask(&mut connection, &kill);
    }
    drop(guard);
    let guard = served(waiting).await;
    assert!(started.elapsed() < ms(5_000), "{:?}", started.elapsed());
    guard.release().await.unwrap();
    nothing_is_left(&mut connection, ms(5_000)).await;
}

#[tokio::test]
async fn a_client_has_one_connection_and_one_channel() {
    let server = RedisServer::start();
    let mut connection = server.connection();
    let client = client(server.url());
    let mut callers = JoinSet::new();
    let looked = Arc::new(Semaphore::new(0));
    for key in 0..40 {
        for _ in 0..3 {
            let (key, looked) = (format!("order:{key}"), looked.clone());
            callers.spawn(client.lock(key).wait(LONG).run(async move |_| {
                let _ = looked.acquire().await;
            }));
        }
    }
    let mut channels: Vec<String> = Vec::new();
    harness::eventually("channel of the holders", LONG, async || {
        let held: Vec<String> = ask(&mut connection, &["KEYS", "lock:*"]);
        channels = ask(&mut connection, &["PUBSUB", "CHANNELS", "*"]);
        held.len() == 40 && !channels.is_empty()
    })
    .await;
    assert_eq!(channels.len(), 1, "{channels:?}");
    assert_eq!(
        figure(&mut connection, "connected_clients"),
        2,
        "ours and the test's"
    );
    looked.close();
    while let Some(caller) = callers.join_next().await {
        caller.unwrap().unwrap();
    }
    drop(client);
    harness::eventually("end of the connection", ms(1_000) + SLACK, async || {
        figure(&mut connection, "connected_clients") == 1
    })
    .await;
}

#[tokio::test]
async fn a_lock_stands_in_the_database_that_the_url_names() {
    let server = RedisServer::start();
    server.allow(&["+select"]);
    let mut connection = server.connection();
    let client = client(format!("{}/3", server.url()));
    let guard = soon(hold(&client)).await;
    assert_eq!(ask::<i64>(&mut connection, &["EXISTS", LOCK]), 0);
    ask::<()>(&mut connection, &["SELECT", "3"]);
    assert_eq!(ask::<i64>(&mut connection, &["EXISTS", LOCK]), 1);
    guard.release().await.unwrap();
}
