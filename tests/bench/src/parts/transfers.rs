//! Tasks of one process that take one lock in turns.

use harness::RedisServer;

use super::Setting;
use super::contest::Contest;
use super::cycle::FLOOR;
use crate::contestants::Kind;
use crate::findings::{Findings, Goal, Value};
use crate::log::Window;
use crate::number::Number;
use crate::race::log;
use crate::runtimes::Flavour;

/// The number of tasks, and the columns of the contestants.
const TASKS: [(u32, &str); 2] = [(16, "transfers/s, 16 tasks"), (128, "128 tasks")];

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    for (tasks, column) in TASKS {
        let off = contest(Kind::InOrder, tasks, setting);
        let on = contest(Kind::Ours, tasks, setting);
        let ratio = |least, contest: &Contest| {
            let rate = contest.rate();
            Value::new(Goal::AtLeast(least), contest.ratio()).of(format_args!("{}/s", Number(rate)))
        };
        findings.figures(
            &format!(
                "transfers, {tasks} tasks of a process, to the ping-pong; local turns off / on"
            ),
            &[ratio(0.3, &off), ratio(6.0, &on)],
            format_args!("{}/s", Number(on.floor())),
        );
        if setting.beside {
            continue;
        }
        off.describe(findings, &on, &format!("{tasks} tasks of a process"));
        findings.contestant(FLOOR, column, Number(on.floor()));
        for kind in Kind::ALL {
            let rate = match kind {
                Kind::InOrder => off.rate(),
                Kind::Ours => on.rate(),
                peer => contest(peer, tasks, setting).rate(),
            };
            findings.contestant(kind.name(), column, Number(rate));
        }
    }
}

fn contest(kind: Kind, tasks: u32, setting: Setting) -> Contest {
    let (server, runtime) = (RedisServer::start(), Flavour::MultiThread.runtime());
    let contestant = runtime.block_on(kind.connect(&server.url()));
    Contest::hold(kind, setting, 1, &server, |key, time| {
        runtime.block_on(log(&contestant, key, tasks, Window::soon(time)))
    })
}
