//! A connection that is driven where the work is: on the client's runtime while that uses locks, and
//! on the background thread otherwise. Wherever it is, nothing may be late, lost or out of order.

mod blocked;
mod broken;
mod dead;
mod idle;
mod kinds;
mod stays;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use harness::{KEY, LONG, RedisServer, ask, client, eventually, ms, wait_until};
use lock_runtime::LockClient;
use tokio::runtime::{Builder, Handle, Runtime};

/// One test at a time: departures and tasks are counted for the whole process, and a busy machine
/// looks like a blocked runtime.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn current_thread() -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime can be made")
}

fn multi_thread() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).enable_all().build();
    runtime.expect("a runtime can be made")
}

/// Takes a free lock and gives it back.
async fn cycle(client: &LockClient) {
    let guard = client
        .lock(KEY)
        .wait(LONG)
        .acquire()
        .await
        .expect("it can be had");
    guard.release().await.expect("it was held throughout");
}

/// Uses locks in the client's runtime until it drives the connection.
async fn lure(client: &LockClient) {
    let start = Instant::now();
    loop {
        cycle(client).await;
        if guests() > 0 {
            return;
        }
        assert!(start.elapsed() < LONG, "it never leaves the background");
    }
}

/// How many connections this runtime drives, if there are no tasks but those and the caller's.
fn guests() -> usize {
    let tasks = Handle::current().metrics().num_alive_tasks();
    tasks - usize::from(tokio::task::try_id().is_some())
}

/// Keeps this thread busy until `done`.
fn block_until(done: impl FnMut() -> bool) {
    wait_until("end of the blocking", LONG, done);
}

/// Runs `work` on a thread of its own.
fn thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    std::thread::spawn(work)
}

/// How many connections of ours the server has.
fn connections(server: &RedisServer) -> usize {
    let list: String = ask(&mut server.connection(), &["CLIENT", "LIST"]);
    list.lines().filter(|line| line.contains(" sub=1 ")).count()
}

/// The server's number for our connection.
fn connection(server: &RedisServer) -> String {
    let list: String = ask(&mut server.connection(), &["CLIENT", "LIST"]);
    let ours: Vec<&str> = list
        .lines()
        .filter(|line| line.contains(" sub=1 "))
        .collect();
    let [ours] = ours[..] else {
        panic!("not one connection: {list}");
    };
    let id = ours.split(' ').find_map(|word| word.strip_prefix("id="));
    id.expect("it has a number").to_owned()
}
