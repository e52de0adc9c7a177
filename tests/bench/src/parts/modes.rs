//! Shares and several keys, compared with a plain lock in the same run: the server's time.
//!
//! The server itself measures each command. Pipelines would measure grants of one key within the
//! same 16 µs, which take a slower path.

use std::time::Duration;

use harness::{RawLock, RedisServer};
use lock_runtime::{Acquire, LockClient, LockGuard, LockRecord};

use crate::contestants::{Kind, Ours};
use crate::effort::Effort;
use crate::findings::{Findings, NONE, Value};
use crate::meter::Meter;
use crate::number::Short;
use crate::runtimes::Flavour;
use crate::stats::{float, ratio};

const KEY: &str = "k";

/// Readers that already share the lock when a share is measured.
const CROWD: usize = 10_000;

/// The most locks that one call takes.
const MOST: usize = 32;

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    let (url, mut meter) = (server.url(), Meter::new(&server));
    let shares = RawLock::new(&server, KEY).r;
    let cycles = u32::try_from(effort.cycles / 10).expect("they are few");
    let runtime = Flavour::CurrentThread.runtime();
    let mut cost =
        |acquire: &dyn Fn() -> Acquire| runtime.block_on(cost(&mut meter, cycles, acquire));

    let ours = Ours::with(&url, |builder| builder.without_label());
    let client = runtime.block_on(ours).0;
    let keys = |keys: usize| client.lock_all((0..keys).map(|number| number.to_string()));
    // A share has a token, so the plain lock has one as well.
    let plain = cost(&|| client.lock(KEY).fenced());
    let share = cost(&|| client.lock(KEY).read());
    let (two, most) = (cost(&|| keys(2)), cost(&|| keys(MOST)));
    let crowd = runtime.block_on(crowd(&client));
    let share_in_crowd = cost(&|| client.lock(KEY).read());
    let memory = Meter::new(&server).memory(&shares) / float(CROWD);
    drop(crowd);
    runtime.block_on(client.shutdown());
    // A different key: this record is a hash.
    let redisson = Ours::with(&url, |builder| builder.record(LockRecord::Redisson));
    let redisson = runtime.block_on(redisson).0;
    let redisson = cost(&|| redisson.lock("r"));

    let to_plain = |time| Value::at_most(1.6, ratio(time, plain)).of(Short(time));
    findings.figure(
        "reader's cycle, the server's time to a plain lock's; alone / beside 10 000",
        [to_plain(share), to_plain(share_in_crowd)],
        Short(plain),
    );
    findings.figure(
        "one of 10 000 readers, the server's memory in bytes",
        [Value::at_most(123.0, memory)],
        NONE,
    );
    findings.figure(
        "cycle of 2 / 32 keys, the server's time in µs a key",
        [Value::micros(16.0, two / 2), Value::micros(16.0, most / 32)],
        Short(plain),
    );
    findings.figure(
        "cycle on Redisson's record, the server's time in µs",
        [Value::micros(11.0, redisson)],
        Short(plain),
    );
}

/// The server's time for a cycle.
async fn cost(meter: &mut Meter, cycles: u32, acquire: &dyn Fn() -> Acquire) -> Duration {
    let cycle = async || {
        let guard = acquire().acquire().await.expect("the lock can be acquired");
        guard.release().await.expect("it was held throughout");
    };
    // Teaches the server the scripts.
    cycle().await;
    let before = meter.time(Kind::Ours.commands());
    for _ in 0..cycles {
        cycle().await;
    }
    (meter.time(Kind::Ours.commands()) - before) / cycles
}

async fn crowd(client: &LockClient) -> Vec<LockGuard> {
    let mut guards = Vec::with_capacity(CROWD);
    for _ in 0..CROWD {
        // The long ttl avoids renewals during the measurement.
        let lock = client.lock(KEY).read().ttl(Duration::from_secs(3_600));
        guards.push(lock.acquire().await.expect("readers share the lock"));
    }
    guards
}
