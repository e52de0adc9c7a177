//! Faults of one server, and of the network on the way to it, that no row of the fault table covers.

mod cuts;
mod restarts;
mod several;
mod silence;

use harness::{LONG, ask, eventually};
use lock_runtime::{LockError, LockGuard};
use redis::Connection;
use tokio::task::JoinHandle;

/// A task that waits for locks.
type Waiting = JoinHandle<Result<LockGuard, LockError>>;

/// Waits until no lock and no queue is left, whatever their keys.
async fn nothing_is_left(connection: &mut Connection) {
    eventually("end of everything", LONG, async || {
        let names: Vec<String> = ask(connection, &["KEYS", "*"]);
        names.iter().all(|name| name.ends_with(":f"))
    })
    .await;
}
