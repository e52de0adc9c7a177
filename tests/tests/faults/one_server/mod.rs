//! One server and everything that can happen to it and on the way to it.
//!
//! Each file is a kind of fault. Exclusion must hold in all of them; where a lease cannot hold (a
//! server that forgets), the loss must be told and the tokens must still rise.

mod blocking;
mod connections;
mod crowd;
mod cuts;
mod late;
mod releases;
mod restarts;
mod scripts;
mod silence;

use std::time::Duration;

use harness::{
    KEY, LOCK, LONG, Proxy, QUEUE, RedisServer, SLACK, ask, client, eventually, hold, ms, soon,
};
use lock_runtime::LockClient;
use redis::Connection;

/// A server that knows the scripts, a proxy in front of it, and a client behind the proxy that
/// is connected.
async fn behind_a_proxy() -> (RedisServer, Proxy, LockClient) {
    let server = RedisServer::start();
    let proxy = Proxy::start(server.port());
    let client = client(proxy.url());
    hold(&client).await.release().await.unwrap();
    contend(&client).await;
    (server, proxy, client)
}

/// Has the server learn the script of a contended release.
async fn contend(client: &LockClient) {
    let guard = hold(client).await;
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    tokio::time::sleep(ms(1)).await;
    drop(guard);
    let guard = waiting.await.unwrap().unwrap();
    guard.renew().await.unwrap();
    guard.release().await.unwrap();
}

/// Waits until neither lock nor queue is left.
async fn nothing_is_left(connection: &mut Connection, limit: Duration) {
    eventually("end of everything", limit, async || {
        ask::<i64>(connection, &["EXISTS", LOCK, QUEUE]) == 0
    })
    .await;
}

/// The number that the server's INFO gives under `name`.
fn figure(connection: &mut Connection, name: &str) -> u64 {
    let info: String = ask(connection, &["INFO", "everything"]);
    let value = info
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.expect("INFO has it").parse().expect("it is a number")
}
