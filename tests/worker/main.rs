//! `lock-worker LOCKS RESOURCE`: a process that uses locks as told, for tests that kill it.
//!
//! Both arguments are URLs: where the locks are (maybe behind a proxy), and the server with the
//! resource that they protect. Each line on standard input is a command, and each is answered with
//! one line; times are in milliseconds. It ends when its input ends.
//!
//! - `acquire KEY TTL WAIT`: `held TOKEN`, or `failed KIND MESSAGE`
//! - `valid`: `true` or `false`
//! - `renew`, `release`: `ok`, or `failed KIND MESSAGE`
//! - `visit plain|fenced`: one visit to the resource under the held lock: `written`, or `stale`
//! - `hammer KEY TTL WAIT TASKS TIME`: visits from many tasks, each under the lock: `hammered N`,
//!   and for each kind of failure ` KIND=N`

mod commands;
mod hammer;

use std::io::{BufRead, Write};
use std::{env, io, thread};

use commands::Worker;
use lock_runtime::LockClient;
use tokio::sync::mpsc;

#[tokio::main]
async fn main() {
    let mut args = env::args().skip(1);
    let (Some(locks), Some(resource)) = (args.next(), args.next()) else {
        panic!("usage: lock-worker LOCKS RESOURCE");
    };
    let client = LockClient::builder()
        .url(locks)
        .build()
        .expect("the URL is well formed");
    let resource = redis::Client::open(resource).expect("the URL is well formed");
    let resource = resource
        .get_multiplexed_async_connection()
        .await
        .expect("the server of the resource accepts connections");

    let mut worker = Worker::new(client, resource);
    let mut lines = input();
    while let Some(command) = lines.recv().await {
        let answer = worker.run(&command).await;
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{answer}")
            .and_then(|()| stdout.flush())
            .expect("the test reads");
    }
}

/// The lines of standard input. A thread of their own reads them, since reading blocks.
fn input() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
