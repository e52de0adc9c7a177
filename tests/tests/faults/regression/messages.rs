//! Messages on a client's channel that no grant sent, or that arrive late.

use harness::{
    KEY, LOCK, LONG, QUEUE, ask, behind_a_proxy, client, eventually, exists, is_awaited, is_free,
    ms, served, server_and_connection,
};
use lock_runtime::LockClient;
use redis::Connection;
use tokio::task::JoinSet;

fn channels(connection: &mut Connection) -> Vec<String> {
    ask(connection, &["PUBSUB", "CHANNELS", "lock:*"])
}

/// The channel of the only connected client.
fn channel(connection: &mut Connection) -> String {
    let channels = channels(connection);
    assert_eq!(channels.len(), 1, "{channels:?}");
    channels[0].clone()
}

/// Makes three cycles, after which `client` has handled every earlier message.
async fn go_round(client: &LockClient) {
    for number in 0..3 {
        let lock = client.lock(format!("round:{number}")).acquire().await;
        lock.unwrap().release().await.unwrap();
    }
}

/// An owner that ended a moment ago is ended again: an acquire that arrived after its `end` would keep the lock taken
/// for a claim or its whole ttl.
#[tokio::test]
async fn an_owner_that_has_just_ended_is_ended_again_when_it_is_granted_the_lock() {
    let (server, mut connection) = server_and_connection();
    let waiter = client(server.url());
    go_round(&waiter).await;
    let channel = channel(&mut connection);
    ask::<()>(&mut connection, &["SET", LOCK, "another program's"]);
    let waiting = tokio::spawn(waiter.lock(KEY).wait(ms(500)).acquire());
    let mut entry = String::new();
    eventually("entry", LONG, async || {
        let entries: Vec<String> = ask(&mut connection, &["ZRANGEBYSCORE", QUEUE, "0", "+inf"]);
        entry = entries.into_iter().next().unwrap_or_default();
        !entry.is_empty()
    })
    .await;
    waiting.await.unwrap().expect_err("it is held");
    eventually("end", LONG, async || !exists(&mut connection, QUEUE)).await;

    // Meanwhile any number of owners without a waiter begin and end.
    // They share their commands' way to the server, since an ended owner is remembered for 10 s only.
    let mut cycles = JoinSet::new();
    for number in 0..1_100 {
        let lock = waiter.lock(format!("free:{number}")).wait(LONG).acquire();
        cycles.spawn(async { lock.await.unwrap().release().await.unwrap() });
    }
    cycles.join_all().await;
    let owner = &entry[..22];
    let record = format!("{owner} 0001700000000000{}", &entry[22..]);
    ask::<()>(&mut connection, &["SET", LOCK, &record, "PX", "600000"]);
    ask::<i64>(
        &mut connection,
        &["PUBLISH", &channel, &format!("{owner}{LOCK}")],
    );
    is_free(&mut connection, LONG).await;
}

/// Waiters with an older channel name are notified as well.
#[tokio::test]
async fn a_waiter_is_notified_on_a_newer_connection() {
    let (server, proxy, client) = behind_a_proxy().await;
    let mut connection = server.connection();
    ask::<()>(&mut connection, &["SET", LOCK, "another program's"]);
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    is_awaited(&mut connection).await;
    let before = channel(&mut connection);
    proxy.kill_connections();
    eventually("channels", LONG, async || {
        channels(&mut connection).len() == 2
    })
    .await;
    assert!(channels(&mut connection).contains(&before));
    ask::<i64>(&mut connection, &["DEL", LOCK]);
    served(waiting).await.release().await.unwrap();
}
