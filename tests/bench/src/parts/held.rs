//! Many locks that one process holds.

use harness::RedisServer;

use super::Setting;
use crate::counting;
use crate::findings::{Findings, Goal, Value};
use crate::number::Number;

pub(super) fn measure(findings: &mut Findings, setting: Setting) {
    let (count, watch) = (setting.effort.held, setting.effort.watch);
    let server = RedisServer::start();
    let (url, held) = (server.url(), Number(crate::stats::float(count)));
    let (number, millis) = (count.to_string(), watch.as_millis().to_string());
    let [allocated, resident, busy] = counting::ask(&["held", &url, &number, &millis]);
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
        Value::new(Goal::AtMost(25.0), busy * 100.0),
        0,
    );
}
