//! One uncontended acquire and release.

use std::sync::Mutex;
use std::time::Duration;

use harness::RedisServer;
use lock_runtime::LockClient;
use redis::{Connection, Script};

use crate::contestants::{Fenced, Kind, Ours, Raw, raw};
use crate::distance::Distance;
use crate::effort::Effort;
use crate::findings::{Findings, NONE};
use crate::number::Short;
use crate::pair::{Cycle, KEY, Work, pair};
use crate::runtimes::{Flavour, without_runtime};

/// Half of a round trip over a network.
const WAY: Duration = Duration::from_micros(250);

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    time(findings, &server, effort);
    blocking(findings, &server, effort);
    far(findings, &server, effort);
}

/// Compared with the floor, and with the peer in the same run: their ratios to the floor would not
/// compare them.
fn time(findings: &mut Findings, server: &RedisServer, effort: Effort) {
    let url = server.url();
    let ([plain, fenced], to_rslock) = Flavour::CurrentThread.run(async move {
        let ours = Ours::connect(&url).await;
        let (plain, fenced) = (
            || Cycle::new(ours.clone()),
            || Cycle::new(Fenced(ours.clone())),
        );
        let raw = || async { Cycle::new(Raw::connect(&url).await) };
        let rslock = || async { Cycle::new(Kind::Rslock.connect(&url).await) };
        let times = effort.cycles;
        let to_floor = [
            pair(effort, times, plain(), raw().await).await,
            pair(effort, times, fenced(), raw().await).await,
        ];
        let to_rslock = [
            pair(effort, times, plain(), rslock().await).await,
            pair(effort, times, fenced(), rslock().await).await,
        ];
        (to_floor, to_rslock)
    });
    findings.figure(
        "uncontended cycle, p50 to the floor; without / with a token",
        [plain.value(1.08), fenced.value(1.25)],
        Short(plain.floor),
    );
    let [plain, fenced] = to_rslock;
    let row = findings.figure(
        "uncontended cycle, p50 to rslock's; without / with a token",
        [plain.value(1.0), fenced.value(1.2)],
        NONE,
    );
    row.peers(Short(plain.floor));
}

/// The server is half a millisecond away.
fn far(findings: &mut Findings, server: &RedisServer, effort: Effort) {
    let url = Distance::start(server.port(), WAY).url();
    let pair_of = |awaits: bool| {
        let url = url.clone();
        Flavour::CurrentThread.run(async move {
            let ours = Ours::with(&url, |builder| builder.await_release(awaits)).await;
            let (ours, raw) = (Cycle::new(ours), Cycle::new(Raw::connect(&url).await));
            pair(effort, effort.far_cycles(), ours, raw).await
        })
    };
    let (awaited, not) = (pair_of(true), pair_of(false));
    findings.figure(
        "uncontended cycle, p50 to the floor, 0.5 ms a round trip away; release awaited / not",
        [awaited.value(1.02), not.value(0.53)],
        Short(awaited.floor),
    );
}

fn blocking(findings: &mut Findings, server: &RedisServer, effort: Effort) {
    let client = LockClient::builder().url(server.url()).build();
    let ours = BlockingCycle(client.expect("the settings are valid"));
    let raw = BlockingFloor {
        connection: Mutex::new(server.connection()),
        unlock: raw::unlock_script(),
    };
    let pair = without_runtime(pair(effort, effort.cycles, ours, raw));
    let row = "uncontended cycle, p50 to the floor, blocking caller without a runtime";
    findings.pair(row, 1.15, pair);
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
        let taken: Option<String> = raw::lock(&name)
            .query(&mut *connection)
            .expect("the server answers");
        let freed: i64 = raw::unlock(&self.unlock, &name)
            .invoke(&mut *connection)
            .expect("the server answers");
        assert_eq!((taken.is_some(), freed), (true, 1), "the lock is free");
    }
}
