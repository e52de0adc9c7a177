//! Many locks that one process holds.

use harness::RedisServer;

use super::Setting;
use crate::contestants::Kind;
use crate::counting;
use crate::findings::{Findings, Goal, Value};
use crate::meter::Meter;
use crate::number::{Count, Number, Short};

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let (count, watch) = (setting.effort.held, setting.effort.watch);
    let server = RedisServer::start();
    let (url, held) = (server.url(), Count(count));
    let (number, millis) = (count.to_string(), watch.as_millis().to_string());
    let [allocated, resident, background, all] = counting::ask(&["held", &url, &number, &millis]);
    // All further commands were renewals.
    let commands = Meter::new(&server).calls(Kind::Ours.commands());
    let commands = usize::try_from(commands).expect("they are few");
    let renewals = commands.saturating_sub(count);
    findings.figure(
        &format!("{held} held locks with a ttl of 30 s, bytes each"),
        Value::new(Goal::AtMost(1024.0), allocated).of(format_args!(
            "the process grew by {} each",
            Number(resident)
        )),
        0,
    );
    findings.figure(
        &format!("{held} held locks, the background thread's part of a core, %"),
        Value::new(Goal::AtMost(25.0), background * 100.0).of(format_args!(
            "all threads {}; {} renewals in {}",
            Number(all * 100.0),
            Count(renewals),
            Short(watch)
        )),
        0,
    );
}
