//! Processes that take one lock in turns.

use harness::RedisServer;

use super::Setting;
use super::contest::Contest;
use crate::contestants::Kind;
use crate::field::Field;
use crate::findings::{Findings, Goal, Value};
use crate::log::Window;
use crate::number::Number;

const PROCESSES: u32 = 4;
const TASKS: u32 = 8;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let off = contest(Kind::InOrder, setting);
    let on = contest(Kind::Ours, setting);
    let ratio = |least, contest: &Contest| {
        let rate = contest.rate();
        Value::new(Goal::AtLeast(least), contest.ratio()).of(format_args!("{}/s", Number(rate)))
    };
    findings.figures(
        "transfers, 4 processes × 8 tasks, to the ping-pong; local turns off / on",
        &[ratio(0.25, &off), ratio(3.0, &on)],
        format_args!("{}/s", Number(on.floor())),
    );
    if setting.beside {
        return;
    }
    off.describe(findings, &on, "4 processes × 8 tasks");
    let fairness = |contest: &Contest| Value::new(Goal::AtLeast(0.99), contest.process_fairness());
    findings.figures(
        "Jain index over 4 processes; off / on",
        &[fairness(&off), fairness(&on)],
        1,
    );
    for kind in Kind::ALL {
        let contest = match kind {
            Kind::InOrder => off.clone(),
            Kind::Ours => on.clone(),
            peer => contest(peer, setting),
        };
        findings.contestant(kind.name(), "4 processes × 8 tasks", Number(contest.rate()));
        findings.contestant(
            kind.name(),
            "commands per transfer there",
            Number(contest.commands()),
        );
    }
}

fn contest(kind: Kind, setting: Setting) -> Contest {
    let server = RedisServer::start();
    let mut field = Field::new(kind, &server.url(), PROCESSES);
    Contest::hold(kind, setting, TASKS, &server, |key, time| {
        field.race(key, TASKS, Window::soon(time))
    })
}
