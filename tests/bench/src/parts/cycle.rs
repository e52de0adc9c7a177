//! One uncontended acquire and release.

use std::time::Duration;

use harness::{Monitor, RedisServer};

use super::Setting;
use crate::contestants::{Contestant, Kind, Ours, Raw};
use crate::findings::{Findings, Goal, Value};
use crate::meter::Meter;
use crate::number::{Number, Short};
use crate::pair::{Cycle, Pair, Work, pair};
use crate::runtimes::Flavour;
use crate::stats::float;

/// Eight bytes.
const KEY: &str = "order:42";

const IDLE: Duration = Duration::from_secs(2);

/// Cycles over which bytes are counted.
const COUNTED: u32 = 100;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let server = RedisServer::start();
    if !setting.beside {
        commands(findings, &server);
        bytes(findings, &server);
    }
    for flavour in Flavour::ALL {
        time(findings, &server, setting, flavour);
    }
    if !setting.beside {
        for flavour in Flavour::ALL {
            beside_rslock(findings, &server, setting, flavour);
        }
        peers(findings, &server, setting);
    }
}

fn commands(findings: &mut Findings, server: &RedisServer) {
    let (url, mut monitor) = (server.url(), server.monitor());
    let (raw, cycle, idle) = Flavour::CurrentThread.run(async move {
        let (ours, raw) = (Ours::connect(&url).await, Raw::connect(&url).await);
        let (ours, raw) = (Cycle(ours, KEY), Cycle(raw, KEY));
        // For the server to learn the scripts.
        ours.once().await;
        raw.once().await;
        monitor.take();
        raw.once().await;
        let floor = names(&mut monitor);
        ours.once().await;
        let cycle = names(&mut monitor);
        tokio::time::sleep(IDLE).await;
        (floor, cycle, names(&mut monitor))
    });
    let listed = |names: &[String]| format!("{} ({})", names.len(), names.join(", "));
    findings.figure(
        "uncontended cycle, commands",
        Value::new(Goal::AtMost(2.0), float(cycle.len())).shown(listed(&cycle)),
        listed(&raw),
    );
    findings.figure(
        "idle client, commands in 2 s",
        Value::new(Goal::AtMost(0.0), float(idle.len())),
        0,
    );
    findings.demand(
        cycle.len() == 2,
        &format!("a cycle is two commands, not {cycle:?}"),
    );
    findings.demand(
        idle.is_empty(),
        &format!("an idle client sends nothing, not {idle:?}"),
    );
}

fn bytes(findings: &mut Findings, server: &RedisServer) {
    let url = server.url();
    let [mut ours_meter, mut raw_meter] = [Meter::new(server), Meter::new(server)];
    let (ours, raw) = Flavour::CurrentThread.run(async move {
        let ours = Ours::with(&url, |builder| builder.without_label()).await;
        let ours = bytes_each(Cycle(ours, KEY), &mut ours_meter).await;
        let raw = bytes_each(Cycle(Raw::connect(&url).await, KEY), &mut raw_meter).await;
        (ours, raw)
    });
    findings.figure(
        "uncontended cycle, bytes to the server, 8-byte key, without label",
        Value::new(Goal::AtMost(320.0), ours),
        Number(raw),
    );
    findings.demand(
        ours <= 320.0,
        &format!("a cycle is at most 320 bytes, not {ours}"),
    );
}

async fn bytes_each(work: impl Work, meter: &mut Meter) -> f64 {
    work.once().await;
    // The bytes of the query are counted as well.
    let before = meter.received();
    let question = meter.received() - before;
    let before = before + question;
    for _ in 0..COUNTED {
        work.once().await;
    }
    let bytes = meter.received() - before - question;
    let bytes = u32::try_from(bytes).expect("they are few");
    f64::from(bytes) / f64::from(COUNTED)
}

fn time(findings: &mut Findings, server: &RedisServer, setting: Setting, flavour: Flavour) {
    let url = server.url();
    let pair = flavour.run(async move {
        let ours = Cycle(Ours::connect(&url).await, KEY);
        beside_floor(&url, ours, setting.effort.rounds, setting.effort.cycles).await
    });
    findings.figure(
        &format!(
            "uncontended cycle, p50 to the floor, {} runtime",
            flavour.name()
        ),
        Value::new(Goal::AtMost(1.1), pair.ratio).of(Short(pair.ours)),
        Short(pair.floor),
    );
    if !setting.beside && flavour == Flavour::CurrentThread {
        findings.contestant(FLOOR, COLUMN, format!("1 ({})", Short(pair.floor)));
        findings.contestant(Kind::InOrder.name(), COLUMN, Number(pair.ratio));
        findings.contestant(Kind::Ours.name(), COLUMN, Number(pair.ratio));
    }
}

/// This project's client and the peer in the same run: their ratios to the floor do not compare them.
fn beside_rslock(
    findings: &mut Findings,
    server: &RedisServer,
    setting: Setting,
    flavour: Flavour,
) {
    let url = server.url();
    let pair = flavour.run(async move {
        let ours = Cycle(Ours::connect(&url).await, KEY);
        let peer = Cycle(Kind::Rslock.connect(&url).await, KEY);
        pair(setting.effort.rounds, setting.effort.cycles, ours, peer).await
    });
    findings.figure(
        &format!(
            "uncontended cycle, p50 to rslock's, {} runtime",
            flavour.name()
        ),
        Value::new(Goal::AtMost(1.03), pair.ratio).of(Short(pair.ours)),
        format_args!("{} (rslock)", Short(pair.floor)),
    );
}

/// The row of the floor among the contestants.
pub(super) const FLOOR: &str = "floor: SET NX, EVALSHA; a PUBLISH";

const COLUMN: &str = "cycle p50, to the floor";

/// The way of waiting makes no difference without contention.
fn peers(findings: &mut Findings, server: &RedisServer, setting: Setting) {
    let url = server.url();
    let times = setting.effort.cycles.div_ceil(3);
    let pair = Flavour::CurrentThread.run(async move {
        let peer = Cycle(Kind::Rslock.connect(&url).await, KEY);
        beside_floor(&url, peer, setting.effort.rounds, times).await
    });
    for kind in Kind::PEERS {
        findings.contestant(kind.name(), COLUMN, Number(pair.ratio));
    }
}

async fn beside_floor<C: Contestant>(
    url: &str,
    ours: Cycle<C>,
    rounds: usize,
    times: usize,
) -> Pair {
    pair(rounds, times, ours, Cycle(Raw::connect(url).await, KEY)).await
}

/// The names of the commands since the last call.
fn names(monitor: &mut Monitor) -> Vec<String> {
    let commands = monitor.take();
    commands.into_iter().map(|command| command.name).collect()
}
