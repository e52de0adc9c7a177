//! Transfers per second against the number of waiters: the points of the plot.

use harness::RedisServer;

use super::Setting;
use crate::contestants::{Any, Kind};
use crate::findings::Findings;
use crate::log::Window;
use crate::ping_pong::ping_pong;
use crate::race::log;
use crate::runtimes::Flavour;
use crate::stats::median;

const WAITERS: [u32; 6] = [1, 4, 16, 64, 256, 1024];

/// The floor's curve, which does not depend on waiters.
const FLOOR: &str = "a PUBLISH (the floor)";

/// Rounds of each point: enough for a plot.
const ROUNDS: usize = 3;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let (server, runtime) = (RedisServer::start(), Flavour::MultiThread.runtime());
    let url = server.url();
    let contestants = Kind::ALL.map(|kind| (kind, runtime.block_on(kind.connect(&url))));
    let slice = setting.effort.slice / 2;
    for waiters in WAITERS {
        let (mut floor, mut rates) = (Vec::new(), vec![Vec::new(); contestants.len()]);
        for round in 0..ROUNDS {
            floor.push(runtime.block_on(ping_pong(&url, slice)));
            for ((kind, contestant), rates) in contestants.iter().zip(&mut rates) {
                // One task is inside while the others wait.
                let race = race(*kind, contestant, waiters + 1, round, setting);
                rates.extend(runtime.block_on(race));
            }
        }
        findings.point(FLOOR, waiters, median(floor));
        for ((kind, _), rates) in contestants.iter().zip(rates) {
            findings.point(kind.name(), waiters, median(rates));
        }
    }
}

/// Transfers per second; none for a round that is left out. Peers that sleep have one, longer round.
async fn race(
    kind: Kind,
    contestant: &Any,
    tasks: u32,
    round: usize,
    setting: Setting,
) -> Option<f64> {
    let time = match (kind.is_ours(), round) {
        (true, _) => setting.effort.slice / 2,
        (false, 0) => setting.effort.peer_slice,
        (false, _) => return None,
    };
    let key = format!("{kind:?}:{tasks}:{round}");
    let log = log(contestant, &key, tasks, Window::soon(time)).await;
    Some(log.rate())
}
