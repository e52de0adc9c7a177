//! One connection that all threads write to and the waiting callers read. Whatever happens to a runtime that uses it,
//! nothing may be late, lost or out of order.

mod blocked;
mod broken;
mod dead;
mod idle;
mod kinds;
mod shared;

use std::sync::MutexGuard;
use std::thread::JoinHandle;

use harness::{KEY, LONG, RedisServer, ask, client, eventually, hold, ms, patient, wait_until};
use lock_runtime::LockClient;
use tokio::runtime::{Builder, Handle, Runtime};

use crate::alone;

/// What [`alone`] returns, and a server.
fn alone_with_a_server() -> (MutexGuard<'static, ()>, RedisServer) {
    (alone(), RedisServer::start())
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

/// Creates a value inside this runtime, which is not polled meanwhile.
fn inside<T>(runtime: &Runtime, make: impl FnOnce() -> T) -> T {
    let _inside = runtime.enter();
    make()
}

/// Both kinds of runtimes, with their names in failures.
fn both() -> [(&'static str, Runtime); 2] {
    [
        ("one thread", current_thread()),
        ("a worker", multi_thread()),
    ]
}

/// Takes a free lock and gives it back, without the timer that `harness::cycle` needs.
async fn cycle(client: &LockClient) {
    let guard = hold(client).await;
    guard.release().await.expect("it was held throughout");
}

/// Uses locks in this runtime until this runtime reads the connection.
async fn settle_in(client: &LockClient) {
    for _ in 0..50 {
        cycle(client).await;
    }
}

/// The number of this runtime's tasks, without the caller's.
fn tasks_here() -> usize {
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

/// The crate's connections at the server, which listen to channels.
fn ours(server: &RedisServer) -> Vec<String> {
    let list: String = ask(&mut server.connection(), &["CLIENT", "LIST"]);
    let ours = list.lines().filter(|line| !line.contains(" sub=0 "));
    ours.map(str::to_owned).collect()
}

fn connections(server: &RedisServer) -> usize {
    ours(server).len()
}

/// The server's id of the crate's connection.
fn connection(server: &RedisServer) -> String {
    let ours = ours(server);
    let [ours] = &ours[..] else {
        panic!("not one connection: {ours:?}");
    };
    let id = ours.split(' ').find_map(|word| word.strip_prefix("id="));
    id.expect("it has a number").to_owned()
}
