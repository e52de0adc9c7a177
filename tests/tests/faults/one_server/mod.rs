//! Faults of one server, and of the network on the way to it, that no row of the fault table covers.

mod cuts;
mod long;
mod restarts;
mod several;
mod silence;

use harness::{LONG, RedisServer, ask, client, eventually};
use lock_runtime::{Acquire, LockError, LockGuard};
use redis::Connection;
use tokio::task::JoinHandle;

/// A task that waits for locks.
type Waiting = JoinHandle<Result<LockGuard, LockError>>;

/// A caller that waits for the last of its locks, which the guard holds.
async fn waiting_for(
    server: &RedisServer,
    last: &'static str,
    all: Acquire,
) -> (LockGuard, Waiting) {
    let held = client(server.url()).lock(last).acquire().await.unwrap();
    let waiting = tokio::spawn(all.acquire());
    let (mut connection, queue) = (server.connection(), format!("{{lock:{last}}}:w"));
    eventually("place in the queue", LONG, async || {
        ask::<i64>(&mut connection, &["ZCARD", &queue]) == 2
    })
    .await;
    (held, waiting)
}

/// Waits until no lock and no queue is left, whatever their keys.
async fn nothing_is_left(connection: &mut Connection) {
    eventually("end of everything", LONG, async || {
        let names: Vec<String> = ask(connection, &["KEYS", "*"]);
        names.iter().all(|name| name.ends_with(":f"))
    })
    .await;
}
