//! Readers behind a writer: how soon all are inside after its end, and what their polls cost the server.

use std::time::{Duration, Instant};

use harness::{ACQUIRE, RawLock, RedisServer, SHARE_ACQUIRE, SHARE_END, wait_until};
use lock_runtime::LockGuard;
use redis::{Connection, Script};
use tokio::task::JoinSet;

use super::Setting;
use crate::contestants::Ours;
use crate::findings::{Findings, Goal, Value};
use crate::meter::Meter;
use crate::number::{Count, Number, Short};
use crate::runtimes::Flavour;
use crate::stats::{float, median, ratio};

const KEY: &str = "k";

/// As many readers of one client wait in Redis; the others stand behind them in the client.
const PLACES: usize = 64;

/// The time until all of them wait, or are inside.
const LIMIT: Duration = Duration::from_secs(60);

/// Longer than the measurement. A waiter counts as alive for 6 s.
const TTL_MS: &str = "60000";

/// Polls of one waiter.
const POLLS: u32 = 500;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let crowd = setting.effort.crowd as usize;
    readers(findings, setting, 1, crowd / 4, 0.65);
    readers(findings, setting, 10, setting.effort.waiters, 0.1);
    polls(findings, crowd);
}

/// The time until this many readers are inside, from the end of the writer before them. The floor is that of readers
/// who find the lock free.
fn readers(findings: &mut Findings, setting: Setting, clients: usize, all: usize, goal: f64) {
    let server = RedisServer::start();
    let (mut behind, mut free) = (Vec::new(), Vec::new());
    for _ in 0..setting.effort.rounds {
        behind.push(round(&server, clients, all, true).as_secs_f64());
        free.push(round(&server, clients, all, false).as_secs_f64());
    }
    let of = match clients {
        1 => "one client".to_owned(),
        clients => format!("{clients} clients"),
    };
    findings.figure(
        &format!(
            "{} readers of {of}, the writer's end until all are inside, s",
            Count(all)
        ),
        Value::new(Goal::AtMost(goal), median(behind)),
        format_args!("{} (no writer)", Number(median(free))),
    );
}

fn round(server: &RedisServer, clients: usize, all: usize, has_writer: bool) -> Duration {
    let mut lock = RawLock::new(server, KEY);
    let runtime = Flavour::MultiThread.runtime();
    let (ours, writer) = runtime.block_on(connect(&server.url(), clients, has_writer));
    let mut start = Instant::now();
    let mut inside = JoinSet::new();
    for reader in 0..all {
        let one = ours[reader % clients].clone();
        inside.spawn_on(async move { read(&one).await }, runtime.handle());
    }
    if let Some(writer) = writer {
        // Each has an entry and a heartbeat.
        let queued = 2 * clients * PLACES.min(all / clients);
        wait_until("readers in the queue", LIMIT, || {
            lock.queue_members().len() == queued
        });
        start = Instant::now();
        let ended = runtime.block_on(writer.release());
        ended.expect("it was held throughout");
    }
    // They stay until all are inside.
    let guards = runtime.block_on(inside.join_all());
    let took = start.elapsed();
    runtime.block_on(async {
        let mut leaving = JoinSet::new();
        for guard in guards {
            leaving.spawn(async move { guard.release().await.expect("it was held throughout") });
        }
        leaving.join_all().await;
    });
    took
}

/// The clients of the readers, and the writer's guard.
async fn connect(url: &str, clients: usize, has_writer: bool) -> (Vec<Ours>, Option<LockGuard>) {
    let mut ours = Vec::new();
    for _ in 0..clients {
        let one = Ours::connect(url).await;
        // For the server to learn the scripts.
        read(&one).await.release().await.expect("it was held");
        ours.push(one);
    }
    if !has_writer {
        return (ours, None);
    }
    let writer = Ours::connect(url).await.0.lock(KEY).write();
    let guard = writer.acquire().await.expect("the lock is free");
    (ours, Some(guard))
}

async fn read(ours: &Ours) -> LockGuard {
    let acquire = ours.0.lock(KEY).read().ttl(LIMIT).wait(LIMIT);
    acquire.acquire().await.expect("readers share the lock")
}

/// The server's time for a poll among this many waiters.
fn polls(findings: &mut Findings, waiters: usize) {
    let plain = poll_among(waiters, false).poll;
    let Cost {
        poll: reader,
        memory,
        end,
    } = poll_among(waiters, true);
    findings.figure(
        &format!(
            "poll of a reader among {} waiters, the server's time to a plain caller's",
            Count(waiters)
        ),
        Value::new(Goal::AtMost(2.5), ratio(reader, plain)).of(Short(reader)),
        Short(plain),
    );
    findings.figure(
        &format!(
            "one of {} waiting readers, the server's memory in bytes",
            Count(waiters)
        ),
        Value::new(Goal::AtMost(290.0), memory),
        "–",
    );
    findings.figure(
        &format!(
            "end of a writer before {} readers, the server's time in ms",
            Count(waiters)
        ),
        Value::new(Goal::AtMost(1.0), end.as_secs_f64() * 1e3),
        "–",
    );
}

/// What many waiters cost the server.
struct Cost {
    /// The time of a poll.
    poll: Duration,
    /// The bytes of a waiter.
    memory: f64,
    /// The time in which those are let in who come after the writer.
    end: Duration,
}

/// A reader waits behind a writer, and the lock is shared; a plain caller waits for a plain holder.
fn poll_among(waiters: usize, is_reader: bool) -> Cost {
    let server = RedisServer::start();
    let lock = RawLock::new(&server, KEY);
    let mut meter = Meter::new(&server);
    let names = [&lock.k, &lock.f, &lock.q, &lock.r];
    let send = |script: &Script, names: &[&String], entry: String, connection: &mut Connection| {
        let mut call = script.key(names);
        let answer = call.arg(entry).arg(TTL_MS).invoke(connection);
        let _: redis::Value = answer.expect("the script runs");
    };
    let plain = |number: usize, connection: &mut Connection| {
        send(
            &ACQUIRE,
            &names[..3],
            format!("{number:022} host"),
            connection,
        );
    };
    let reader = |number: usize| format!("{number:022} \u{1f}1/0\u{1f}host");
    let poll = |number: usize, connection: &mut Connection| match is_reader {
        true => send(&SHARE_ACQUIRE, &names, reader(number), connection),
        false => plain(number, connection),
    };
    let mut connection = server.connection();
    poll(0, &mut connection);
    plain(1, &mut connection);
    for number in 2..=waiters {
        poll(number, &mut connection);
    }
    let before = meter.time(&["evalsha"]);
    for _ in 0..POLLS {
        poll(waiters, &mut connection);
    }
    let poll = (meter.time(&["evalsha"]) - before) / POLLS;
    let memory = meter.memory(&lock.q) / float(waiters);
    // The first lets the writer in.
    let mut end = Duration::ZERO;
    for entry in [reader(0), format!("{:022} host", 1)] {
        let before = meter.time(&["evalsha"]);
        let answer = SHARE_END.key(&names[..]).arg(entry).invoke(&mut connection);
        let _: redis::Value = answer.expect("the script runs");
        end = meter.time(&["evalsha"]) - before;
    }
    Cost { poll, memory, end }
}
