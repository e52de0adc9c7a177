//! The same cycle for callers on another runtime than the client's, or without a runtime.

use std::sync::Mutex;

use harness::RedisServer;
use lock_runtime::LockClient;
use redis::{Connection, Script};

use super::Setting;
use crate::contestants::{Ours, Raw, raw};
use crate::findings::{Findings, Goal, Value};
use crate::number::Short;
use crate::pair::{Cycle, Pair, Work, pair};
use crate::runtimes::{Flavour, without_runtime};

const KEY: &str = "order:42";

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let server = RedisServer::start();
    let kinds = [
        (
            "another runtime than the client's",
            elsewhere(&server, setting),
        ),
        (
            "blocking caller without a runtime",
            blocking(&server, setting),
        ),
    ];
    for (caller, pair) in kinds {
        findings.figure(
            &format!("uncontended cycle, p50 to the floor, {caller}"),
            Value::new(Goal::AtMost(1.15), pair.ratio).of(Short(pair.ours)),
            Short(pair.floor),
        );
    }
}

/// The client's runtime is multi-threaded and idle. The floor's connection is on its caller's runtime.
fn elsewhere(server: &RedisServer, setting: Setting) -> Pair {
    let url = server.url();
    let home = Flavour::MultiThread.runtime();
    let ours = home.block_on(Ours::connect(&url));
    Flavour::CurrentThread.run(async move {
        let (ours, raw) = (Cycle(ours, KEY), Cycle(Raw::connect(&url).await, KEY));
        pair(setting.effort.rounds, setting.effort.cycles, ours, raw).await
    })
}

fn blocking(server: &RedisServer, setting: Setting) -> Pair {
    let url = server.url();
    let client = LockClient::builder().url(&url).build();
    let ours = BlockingCycle(client.expect("the settings are valid"));
    let redis = redis::Client::open(url).expect("the URL is well formed");
    let connection = redis.get_connection();
    let raw = BlockingFloor {
        connection: Mutex::new(connection.expect("the server accepts connections")),
        unlock: raw::unlock_script(),
    };
    let Setting { effort, .. } = setting;
    without_runtime(pair(effort.rounds, effort.cycles, ours, raw))
}

struct BlockingCycle(LockClient);

/// With the client library's own blocking connection.
struct BlockingFloor {
    connection: Mutex<Connection>,
    unlock: Script,
}

impl Work for BlockingCycle {
    async fn once(&self) {
        let guard = self.0.lock(KEY).acquire_blocking();
        let released = guard.and_then(|guard| guard.release_blocking());
        released.expect("the lock is free, and held throughout");
    }
}

impl Work for BlockingFloor {
    async fn once(&self) {
        let name = raw::name(KEY);
        let mut connection = self.connection.lock().expect("no cycle panics");
        let answer: Option<String> = raw::lock(&name)
            .query(&mut *connection)
            .expect("the server answers");
        assert!(answer.is_some(), "the lock is free");
        let freed: i64 = raw::unlock(&self.unlock, &name)
            .invoke(&mut *connection)
            .expect("the server answers");
        assert_eq!(freed, 1, "it was held throughout");
    }
}
