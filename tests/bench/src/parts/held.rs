//! Many locks that one process holds.

use harness::RedisServer;

use crate::counting;
use crate::effort::Effort;
use crate::findings::{Findings, Value};
use crate::number::Count;

pub(super) fn measure(findings: &mut Findings, effort: Effort) {
    let server = RedisServer::start();
    held(
        findings,
        "",
        &server.url(),
        effort.held,
        effort,
        [1024.0, 25.0],
    );
}

/// So many locks with a ttl of 30 s, and the goals for the memory and the time that they take.
pub(super) fn held(
    findings: &mut Findings,
    place: &str,
    url: &str,
    count: usize,
    effort: Effort,
    [most_bytes, most_time]: [f64; 2],
) {
    let (number, millis) = (count.to_string(), effort.watch.as_millis().to_string());
    let [allocated, background] = counting::ask(&["held", url, &number, &millis]);
    let count = Count(count);
    findings.figure(
        format!("{place}{count} held locks, bytes each"),
        [Value::at_most(most_bytes, allocated)],
        0,
    );
    findings.figure(
        format!("{place}{count} held locks, the background thread's part of a core, %"),
        [Value::at_most(most_time, background * 100.0)],
        0,
    );
}
