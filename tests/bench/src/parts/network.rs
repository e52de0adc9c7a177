//! The same cycle with the server half a millisecond away.

use std::time::Duration;

use harness::RedisServer;
use lock_runtime::LockClientBuilder;

use super::Setting;
use crate::contestants::{Ours, Raw};
use crate::distance::Distance;
use crate::findings::{Findings, Goal, Value};
use crate::number::Short;
use crate::pair::{Cycle, pair};
use crate::runtimes::Flavour;

const KEY: &str = "order:42";

/// Half of the round trip.
const WAY: Duration = Duration::from_micros(250);

type Settings = fn(LockClientBuilder) -> LockClientBuilder;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let server = RedisServer::start();
    let distance = Distance::start(server.port(), WAY);
    let kinds: [(&str, f64, Settings); 2] = [
        ("", 1.02, |builder| builder),
        (", release not awaited", 0.53, |builder| {
            builder.await_release(false)
        }),
    ];
    for (kind, most, settings) in kinds {
        let url = distance.url();
        let pair = Flavour::CurrentThread.run(async move {
            let ours = Ours::with(&url, settings).await;
            let raw = Raw::connect(&url).await;
            let effort = setting.effort;
            pair(
                effort.rounds,
                effort.far_cycles,
                Cycle(ours, KEY),
                Cycle(raw, KEY),
            )
            .await
        });
        findings.figure(
            &format!("uncontended cycle, p50 to the floor, 0.5 ms a round trip away{kind}"),
            Value::new(Goal::AtMost(most), pair.ratio).of(Short(pair.ours)),
            Short(pair.floor),
        );
    }
}
