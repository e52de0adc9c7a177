//! Locks of other clients that poll.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use harness::RedisServer;
use redis::aio::MultiplexedConnection;

use harness::{KEY, LOCK, LONG, client, ms};

/// Four foreign clients take the lock in turns and poll every 2 ms. The crate's client polled every 200
/// ms and had one turn in eighty.
#[tokio::test]
async fn client_beside_polling_clients_has_a_fair_share() {
    const TURNS: usize = 400;
    let server = RedisServer::start();
    let ours = client(server.url());
    let theirs = Arc::new(AtomicUsize::new(0));
    let over = Arc::new(AtomicBool::new(false));
    let mut others = tokio::task::JoinSet::new();
    for number in 0..4 {
        let connection = server.async_connection().await;
        others.spawn(poll(connection, number, theirs.clone(), over.clone()));
    }
    let mut turns = 0;
    while theirs.load(Ordering::Relaxed) < TURNS {
        let guard = ours.lock(KEY).wait(LONG).acquire().await.unwrap();
        turns += 1;
        tokio::time::sleep(ms(1)).await;
        guard.release().await.unwrap();
    }
    over.store(true, Ordering::Relaxed);
    others.join_all().await;
    let all = turns + theirs.load(Ordering::Relaxed);
    // A fifth would be its fair share. It sleeps between its polls, as the others do.
    assert!(turns * 20 > all, "{turns} of {all} turns");
}

async fn poll(
    mut connection: MultiplexedConnection,
    number: usize,
    turns: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
) {
    let mut set = redis::cmd("SET");
    let value = format!("another kind {number} {}", "x".repeat(number));
    set.arg(LOCK).arg(value).arg("NX").arg("PX").arg(10_000);
    while !over.load(Ordering::Relaxed) {
        let taken: Option<String> = set.query_async(&mut connection).await.unwrap();
        if taken.is_some() {
            turns.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(ms(1)).await;
            let mut delete = redis::cmd("DEL");
            let _: i64 = delete.arg(LOCK).query_async(&mut connection).await.unwrap();
        }
        tokio::time::sleep(ms(2)).await;
    }
}
