//! Shares and several keys, beside a plain lock in the same run: commands, bytes, and the server's time.
//!
//! The server's time is that of its own count of each command. Pipelines would measure grants of one key within the
//! same 16 µs, which take a slower path.

use std::time::Duration;

use harness::{RawLock, RedisServer};
use lock_runtime::{Acquire, LockClient, LockGuard, Record};

use super::{Setting, admitted};
use crate::contestants::Ours;
use crate::findings::{Findings, Goal, Value};
use crate::meter::Meter;
use crate::number::{Number, Short};
use crate::runtimes::Flavour;
use crate::stats::{float, ratio};

/// One byte: a share names its lock twice more than a plain lock does.
const KEY: &str = "k";

/// Readers of one lock beside which a share is measured.
const CROWD: usize = 10_000;

/// Cycles over which commands and bytes are counted.
const COUNTED: u32 = 100;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let server = RedisServer::start();
    let (url, meter) = (server.url(), Meter::new(&server));
    let shares = RawLock::new(&server, KEY).r;
    let cycles = u32::try_from(setting.effort.cycles / 10)
        .unwrap_or(u32::MAX)
        .max(COUNTED);
    let bench = Bench {
        url,
        shares,
        cycles,
        meter,
    };
    Flavour::CurrentThread.run(bench.measure()).report(findings);
    admitted::measure(findings, setting);
}

/// What a cycle costs.
#[derive(Clone, Copy, Debug)]
struct Cost {
    commands: f64,
    bytes: f64,
    server: Duration,
}

struct Costs {
    plain: Cost,
    share: Cost,
    share_in_crowd: Cost,
    /// A renewal of one of many shares.
    renewal: Duration,
    /// The server's memory for one of them, in bytes.
    memory: f64,
    two_keys: Cost,
    most_keys: Cost,
    redisson: Cost,
}

struct Bench {
    url: String,
    /// The name of the record of shares.
    shares: String,
    cycles: u32,
    meter: Meter,
}

/// As many locks as one call takes.
const MOST: usize = 32;

impl Bench {
    async fn measure(mut self) -> Costs {
        let ours = Ours::with(&self.url, |builder| builder.without_label()).await;
        let client = ours.0;
        let all = |keys: usize| {
            let client = client.clone();
            move || client.lock_all((0..keys).map(|number| number.to_string()))
        };
        let plain = self.cost(|| client.lock(KEY)).await;
        let share = self.cost(|| client.lock(KEY).read()).await;
        let two_keys = self.cost(all(2)).await;
        let most_keys = self.cost(all(MOST)).await;
        let crowd = crowd(&client).await;
        let share_in_crowd = self.cost(|| client.lock(KEY).read()).await;
        let renewal = self.renewal(&crowd[0]).await;
        let memory = self.meter.memory(&self.shares) / float(CROWD);
        drop(crowd);
        client.shutdown().await;
        // Another key: this record is a hash.
        let ours = Ours::with(&self.url, |builder| builder.record(Record::Redisson)).await;
        let redisson = self.cost(|| ours.0.lock("r")).await;
        Costs {
            plain,
            share,
            share_in_crowd,
            renewal,
            memory,
            two_keys,
            most_keys,
            redisson,
        }
    }

    async fn cost(&mut self, acquire: impl Fn() -> Acquire) -> Cost {
        let cycle = async || {
            let guard = acquire().acquire().await.expect("the lock can be had");
            guard.release().await.expect("it was held throughout");
        };
        // For the server to learn the scripts.
        cycle().await;
        let (calls, time) = (self.meter.calls(SCRIPTS), self.meter.time(SCRIPTS));
        // The bytes of the questions are counted as well.
        let before = self.meter.received();
        let question = self.meter.received() - before;
        for _ in 0..self.cycles {
            cycle().await;
        }
        let bytes = self.meter.received() - before - 2 * question;
        let each = f64::from(self.cycles);
        let count = |number: u64| u32::try_from(number).map_or(f64::INFINITY, f64::from);
        Cost {
            commands: count(self.meter.calls(SCRIPTS) - calls) / each,
            bytes: count(bytes) / each,
            server: (self.meter.time(SCRIPTS) - time) / self.cycles,
        }
    }

    async fn renewal(&mut self, guard: &LockGuard) -> Duration {
        let before = self.meter.time(SCRIPTS);
        for _ in 0..self.cycles {
            guard.renew().await.expect("it is held");
        }
        (self.meter.time(SCRIPTS) - before) / self.cycles
    }
}

/// What a client sends for a cycle.
const SCRIPTS: &[&str] = &["evalsha", "eval", "delifeq", "delex"];

/// Shares of the lock.
async fn crowd(client: &LockClient) -> Vec<LockGuard> {
    let mut guards = Vec::with_capacity(CROWD);
    for _ in 0..CROWD {
        // Not renewed while others are measured.
        let lock = client.lock(KEY).read().ttl(Duration::from_secs(3_600));
        guards.push(lock.acquire().await.expect("readers share the lock"));
    }
    guards
}

impl Costs {
    fn report(self, findings: &mut Findings) {
        let commands = self.share.commands.max(self.share_in_crowd.commands);
        findings.figure(
            "reader's cycle, commands",
            Value::new(Goal::AtMost(2.0), commands),
            Number(self.plain.commands),
        );
        findings.demand(
            commands <= 2.0,
            &format!("a reader's cycle is two commands, not {commands}"),
        );
        findings.figure(
            "reader's cycle, bytes to the server, 1-byte key, without label",
            Value::new(Goal::AtMost(320.0), self.share.bytes),
            Number(self.plain.bytes),
        );
        for (name, cost) in [
            ("alone", self.share),
            ("beside 10 000", self.share_in_crowd),
        ] {
            findings.figure(
                &format!("reader's cycle, the server's time to a plain lock's, {name}"),
                Value::new(Goal::AtMost(1.6), ratio(cost.server, self.plain.server))
                    .of(Short(cost.server)),
                Short(self.plain.server),
            );
        }
        findings.figure(
            "renewal of a reader beside 10 000, the server's time in µs",
            Value::new(Goal::AtMost(15.0), self.renewal.as_secs_f64() * 1e6),
            "–",
        );
        findings.figure(
            "one of 10 000 readers, the server's memory in bytes",
            Value::new(Goal::AtMost(123.0), self.memory),
            "–",
        );
        for (keys, cost) in [(2, self.two_keys), (MOST, self.most_keys)] {
            findings.figure(
                &format!("cycle of {keys} keys, commands"),
                Value::new(Goal::AtMost(2.0), cost.commands),
                Number(self.plain.commands),
            );
            findings.demand(
                cost.commands <= 2.0,
                &format!(
                    "a cycle of {keys} keys is two commands, not {}",
                    cost.commands
                ),
            );
            findings.figure(
                &format!("cycle of {keys} keys, the server's time in µs a key"),
                Value::new(
                    Goal::AtMost(16.0),
                    cost.server.as_secs_f64() * 1e6 / float(keys),
                ),
                Short(self.plain.server),
            );
        }
        findings.figure(
            "cycle of 2 keys, bytes to the server, 1-byte keys, without label",
            Value::new(Goal::AtMost(371.0), self.two_keys.bytes),
            Number(self.plain.bytes),
        );
        self.report_redisson(findings);
    }

    fn report_redisson(self, findings: &mut Findings) {
        let cost = self.redisson;
        findings.figure(
            "cycle on Redisson's record, commands",
            Value::new(Goal::AtMost(2.0), cost.commands),
            Number(self.plain.commands),
        );
        findings.demand(
            cost.commands <= 2.0,
            &format!(
                "a cycle on Redisson's record is two commands, not {}",
                cost.commands
            ),
        );
        findings.figure(
            "cycle on Redisson's record, bytes to the server, 1-byte key",
            Value::new(Goal::AtMost(290.0), cost.bytes),
            Number(self.plain.bytes),
        );
        findings.figure(
            "cycle on Redisson's record, the server's time in µs",
            Value::new(Goal::AtMost(11.0), cost.server.as_secs_f64() * 1e6),
            Short(self.plain.server),
        );
    }
}
