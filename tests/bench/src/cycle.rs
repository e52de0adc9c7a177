//! One acquire and release that nobody contends.

use std::time::{Duration, Instant};

use harness::{Monitor, RedisServer};
use lock_runtime::LockClient;
use redis::Script;
use redis::aio::MultiplexedConnection;

use crate::client;
use crate::report::Report;
use crate::stats::{Short, Times};

const KEY: &str = "cycle:1";
const ROUNDS: usize = 9;
const CYCLES: usize = 1000;
const IDLE: Duration = Duration::from_secs(2);

/// Compare-and-delete, as everybody has it.
const UNLOCK: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

pub(crate) async fn measure(report: &mut Report) {
    let server = RedisServer::start();
    let client = client(&server).await;
    let mut raw = Raw::new(&server).await;
    // The server learns the scripts, the connections are made.
    ours(&client).await;
    raw.cycle().await;

    count(report, &server, &client, &mut raw).await;
    time(report, &client, &mut raw).await;
}

async fn count(report: &mut Report, server: &RedisServer, client: &LockClient, raw: &mut Raw) {
    let mut monitor = server.monitor();
    raw.cycle().await;
    let floor = names(&mut monitor);
    ours(client).await;
    let cycle = names(&mut monitor);
    let guard = client.lock(KEY).acquire().await.expect("the lock is free");
    monitor.take();
    let nested = guard.run(ours(client)).await;
    nested.expect("the lock is held throughout");
    let nested = names(&mut monitor);
    guard.release().await.expect("it was held throughout");
    monitor.take();
    tokio::time::sleep(IDLE).await;
    let idle = names(&mut monitor);

    let listed = |names: &[String]| format!("{} ({})", names.len(), names.join(", "));
    report.row(
        "commands, acquire and release",
        listed(&cycle),
        listed(&floor),
    );
    report.row("commands, nested call", nested.len(), 0);
    report.row("commands, idle client, 2 s", idle.len(), 0);
    report.demand(cycle.len() == 2, "a cycle is two commands");
    report.demand(nested.is_empty(), "a nested call is no command");
    report.demand(idle.is_empty(), "an idle client sends nothing");
}

async fn time(report: &mut Report, client: &LockClient, raw: &mut Raw) {
    let (mut with_lock, mut floor, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut times = Vec::with_capacity(CYCLES);
        for _ in 0..CYCLES {
            let start = Instant::now();
            ours(client).await;
            times.push(start.elapsed());
        }
        let mine = Times::new(times).median();
        let mut times = Vec::with_capacity(CYCLES);
        for _ in 0..CYCLES {
            let start = Instant::now();
            raw.cycle().await;
            times.push(start.elapsed());
        }
        let least = Times::new(times).median();
        ratios.push(mine.as_secs_f64() / least.as_secs_f64());
        with_lock.push(mine);
        floor.push(least);
    }
    ratios.sort_unstable_by(f64::total_cmp);
    let (with_lock, floor) = (Times::new(with_lock).median(), Times::new(floor).median());
    report.row(
        "acquire and release, median",
        format!("{} (× {:.2})", Short(with_lock), ratios[ROUNDS / 2]),
        Short(floor),
    );
}

async fn ours(client: &LockClient) {
    let guard = client.lock(KEY).acquire().await.expect("the lock is free");
    guard.release().await.expect("it was held throughout");
}

/// The two commands of a lock that is made by hand, on a connection of the caller's runtime.
struct Raw {
    connection: MultiplexedConnection,
    unlock: Script,
}

impl Raw {
    async fn new(server: &RedisServer) -> Raw {
        Raw {
            connection: server.async_connection().await,
            unlock: Script::new(UNLOCK),
        }
    }

    async fn cycle(&mut self) {
        let mut set = redis::cmd("SET");
        set.arg("raw:cycle:1").arg("somebody").arg("NX");
        set.arg("PX").arg(30_000);
        let set: Option<String> = set
            .query_async(&mut self.connection)
            .await
            .expect("the server answers");
        assert!(set.is_some(), "the lock is free");
        let mut unlock = self.unlock.prepare_invoke();
        unlock.key("raw:cycle:1").arg("somebody");
        let freed: i64 = unlock
            .invoke_async(&mut self.connection)
            .await
            .expect("the server answers");
        assert_eq!(freed, 1, "it was held throughout");
    }
}

/// The names of the commands since the last look.
fn names(monitor: &mut Monitor) -> Vec<String> {
    let commands = monitor.take();
    commands.into_iter().map(|command| command.name).collect()
}
