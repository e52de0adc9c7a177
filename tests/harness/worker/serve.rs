//! The inside of a worker: its life from start to end.

use std::io::{BufRead, Write};
use std::{io, thread};

use lock_runtime::LockClient;
use tokio::sync::mpsc;

use super::commands::{Commands, Next};

/// Serves the commands on standard input, each answered with one line; times are in milliseconds.
///
/// `locks` and `resource` are URLs: where the locks are (maybe behind a proxy), and the server with
/// the resource that they protect. It ends when its input ends, or when told to.
///
/// - `acquire KEY TTL WAIT`: `held TOKEN`, or `failed KIND MESSAGE`
/// - `valid`: `true` or `false`
/// - `renew`, `release`: `ok`, or `failed KIND MESSAGE`
/// - `visit plain|fenced`: one visit to the resource under the held lock: `written`, or `stale`
/// - `hammer KEY TTL WAIT TASKS TIME`: visits from many tasks, each under the lock: `hammered N`,
///   and for each kind of failure ` KIND=N`
/// - `leave`: drops what it holds, and the process ends at once without an answer
///
/// # Panics
///
/// When an argument or a command makes no sense, or the resource is not there: the test is wrong.
pub async fn serve(locks: &str, resource: &str) {
    let client = LockClient::builder()
        .url(locks)
        .build()
        .expect("the URL is well formed");
    let resource = redis::Client::open(resource).expect("the URL is well formed");
    let resource = resource
        .get_multiplexed_async_connection()
        .await
        .expect("the server of the resource accepts connections");

    let mut commands = Commands::new(client, resource);
    let mut lines = input();
    while let Some(line) = lines.recv().await {
        let answer = match commands.run(&line).await {
            Next::Answer(answer) => answer,
            Next::Leave => return,
        };
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
