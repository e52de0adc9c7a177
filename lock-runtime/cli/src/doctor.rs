//! `doctor`: checks that the servers are configured safely for locks. This file asks; most of the others judge the answers.

mod advice;
mod clock;
mod finding;
mod group;
mod info;
mod keys;
mod permissions;
mod records;
mod redisson;
mod rights;
mod sample;
mod settings;
mod summary;
mod transport;
mod trial;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lock_runtime::inspect::{Answer, ServerAnswers};
use lock_runtime::{LockClient, LockError};

use crate::args::{Connection, Doctor};
use crate::exit::{Exit, Failure};
use crate::output::{Form, print, say};
use crate::rights::{Kind, Role};

use self::finding::{Finding, Verdict};
use self::group::groups;
use self::info::Info;
use self::summary::Summary;

/// How often a round trip is measured.
const PINGS: usize = 50;

/// The slots of a cluster.
const SLOTS: u64 = 16_384;

/// Prints findings as soon as they are known: one by one for programs; for people, identical findings of several servers as
/// one, and a summary at the end.
struct Report {
    form: Form,
    /// The number of servers.
    servers: usize,
    summary: Summary,
}

impl Report {
    fn add(&mut self, findings: &[Finding]) -> Result<(), Failure> {
        findings.iter().for_each(|found| self.summary.add(found));
        match self.form {
            Form::Json => findings
                .iter()
                .try_for_each(|found| print(self.form, found)),
            Form::Text => groups(findings, self.servers).iter().try_for_each(say),
        }
    }

    fn end(self) -> Result<Verdict, Failure> {
        if self.form == Form::Text {
            say(&self.summary)?;
        }
        Ok(self.summary.worst())
    }
}

pub(crate) async fn doctor(
    connection: &Connection,
    doctor: Doctor,
    form: Form,
) -> Result<Exit, Failure> {
    let mut report = Report {
        form,
        servers: 1,
        summary: Summary::default(),
    };
    let client = match connection.connect(&connection.operator()).await {
        Ok(client) => client,
        Err(failure) => {
            let why = failure.to_string();
            let change = advice::of(&why, doctor.role.unwrap_or(Role::Service));
            let found = Finding::fail("reachable", "no").since(why, change);
            report.add(&[found])?;
            report.end()?;
            return Ok(failure.exit());
        }
    };
    let examined = examine(&client, connection, &doctor, &mut report).await;
    client.shutdown().await;
    match examined {
        Ok(()) => Ok(match report.end()? {
            Verdict::Ok | Verdict::Warn => Exit::DONE,
            Verdict::Fail => Exit::NEGATIVE,
        }),
        Err(Stop::Unanswered(error)) => {
            report.add(&[unfinished(&error)])?;
            report.end()?;
            Ok(Failure::from(error).exit())
        }
        Err(Stop::Unprinted(failure)) => Err(failure),
    }
}

/// The doctor got no answer to a question that it cannot skip.
fn unfinished(error: &LockError) -> Finding {
    let change = "check the network and the server's log, and run the doctor again";
    Finding::fail("unfinished", "some checks did not run").since(error.to_string(), change)
}

/// Why some checks did not run.
enum Stop {
    Unanswered(LockError),
    Unprinted(Failure),
}

impl From<LockError> for Stop {
    fn from(error: LockError) -> Stop {
        Stop::Unanswered(error)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Unprinted(failure)
    }
}

/// Runs all checks, and reports their findings.
async fn examine(
    client: &LockClient,
    connection: &Connection,
    doctor: &Doctor,
    report: &mut Report,
) -> Result<(), Stop> {
    report.add(&[round_trips(client).await])?;
    report.add(&[transport::finding(&connection.url)])?;
    let servers = servers(client, connection).await?;
    report.servers = servers.len();
    report.add(&servers.concat())?;
    report.add(&permissions::findings(client, connection, doctor.role).await?)?;
    let sampled = keys::sample(client, connection, doctor).await?;
    report.add(&sampled.findings)?;
    let records = keys::records(client, connection, doctor).await?;
    report.add(&records.findings)?;
    let newest = [sampled.newest, records.newest].concat();
    if let Some(found) = clock::beside_tokens(&newest) {
        report.add(&[found])?;
    }
    Ok(())
}

async fn round_trips(client: &LockClient) -> Finding {
    let mut took = Vec::with_capacity(PINGS);
    for _ in 0..PINGS {
        match client.ping().await {
            Ok(time) => took.push(time),
            // The next checks may reveal more.
            Err(error) => return unanswered("reachable", &error),
        }
    }
    took.sort_unstable();
    let (p50, p99) = (took[PINGS / 2], took[PINGS * 99 / 100]);
    let shown = format!("p50 {} µs, p99 {} µs", p50.as_micros(), p99.as_micros());
    if p50 <= Duration::from_millis(10) {
        return Finding::ok("reachable", shown);
    }
    Finding::warn("reachable", shown).since(
        "each lock costs two of these round trips",
        "keep locks on a server near their callers",
    )
}

/// A question without an answer. If the user has no right to ask it, that is no fault of the servers.
fn unanswered(check: &'static str, error: &LockError) -> Finding {
    let why = error.to_string();
    if advice::is_denial(&why) {
        return Finding::unchecked(check, why);
    }
    let change = advice::of(&why, Role::Viewer);
    Finding::fail(check, "no answer").since(why, change)
}

/// The findings about each server.
async fn servers(
    client: &LockClient,
    connection: &Connection,
) -> Result<Vec<Vec<Finding>>, LockError> {
    let questions: [Vec<String>; 3] = [
        words(&["TIME"]),
        words(&["INFO", "all"]),
        words(&["CLUSTER", "INFO"]),
    ];
    let asked = Instant::now();
    let answers = client.ask_servers(None, &questions).await?;
    let here = now() - micros(asked.elapsed()) / 2;
    let mut findings = Vec::new();
    for ServerAnswers { server, answers } in answers {
        let found = match answers {
            Ok(answers) => of_server(&answers, here, connection),
            Err(error) => vec![
                Finding::fail("server", "no answer")
                    .since(error.to_string(), "check the server's log"),
            ],
        };
        let found = found.into_iter().map(|found| found.on(&server));
        findings.push(found.collect());
    }
    Ok(findings)
}

/// The findings about one server, from its answers to TIME, INFO and CLUSTER INFO.
fn of_server(answers: &[Answer], here: i64, connection: &Connection) -> Vec<Finding> {
    let [time, info, cluster] = answers else {
        return vec![Finding::fail("server", "unknown answers")];
    };
    let mut findings = Vec::new();
    if let Some(time) = micros_of(time) {
        findings.push(clock::beside_ours(time, here));
    }
    match info {
        Answer::Text(text) => findings.extend(settings::of(&Info::parse(text))),
        _ => findings.push(Finding::warn("info", "not allowed").since(
            "the version, memory, persistence and replicas cannot be checked",
            "grant +info to the user of the doctor",
        )),
    }
    match cluster {
        _ if Kind::of(&connection.url) != Kind::Cluster => {}
        Answer::Text(text) => findings.push(slots(&Info::parse(text))),
        _ => findings.push(Finding::warn("slots", "not allowed").since(
            "the coverage of slots cannot be checked",
            "grant +cluster|info to the user of the doctor",
        )),
    }
    findings
}

fn slots(info: &Info) -> Finding {
    let covered = info.number("cluster_slots_ok").unwrap_or(0);
    let shown = format!("{covered} of 16384 slots");
    match (info.text("cluster_state"), covered) {
        (Some("ok"), SLOTS) => Finding::ok("slots", shown),
        // With `cluster-require-full-coverage no` the state is ok anyway.
        _ => Finding::fail("slots", shown).since(
            "locks of the other slots are refused (CLUSTERDOWN)",
            "CLUSTER NODES shows which primaries are away",
        ),
    }
}

/// The answers of one server; `None` if there are none.
async fn ask(
    client: &LockClient,
    server: &str,
    commands: &[Vec<String>],
) -> Result<Option<Vec<Answer>>, LockError> {
    let mut asked = client
        .ask_servers(Some(server).filter(|server| !server.is_empty()), commands)
        .await?;
    Ok(asked.pop().and_then(|asked| asked.answers.ok()))
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The answer to TIME (µs since 1970).
fn micros_of(time: &Answer) -> Option<i64> {
    let Answer::List(parts) = time else {
        return None;
    };
    let [Answer::Text(seconds), Answer::Text(micros)] = &parts[..] else {
        return None;
    };
    Some(seconds.parse::<i64>().ok()? * 1_000_000 + micros.parse::<i64>().ok()?)
}

/// This machine's time (µs since 1970).
fn now() -> i64 {
    // Only compared with the server's; no lease depends on it.
    #[allow(clippy::disallowed_methods)]
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    micros(now.unwrap_or_default())
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_that_were_not_all_checked_are_unfit() {
        let error = LockClient::builder().url("tcp://a").build().err();
        let mut summary = Summary::default();
        summary.add(&Finding::ok("tls", "on"));
        summary.add(&unfinished(&error.expect("no client has this URL")));
        let line = summary.to_string();
        assert_eq!(line, "not fit for locks: 1 FAIL (unfinished), 1 ok");
    }

    #[test]
    fn cluster_that_lacks_slots_is_unfit_in_any_state() {
        for (state, covered, verdict) in [
            ("ok", 16_384, Verdict::Ok),
            ("ok", 10_923, Verdict::Fail),
            ("fail", 16_384, Verdict::Fail),
        ] {
            let text = format!("cluster_state:{state}\r\ncluster_slots_ok:{covered}\r\n");
            assert_eq!(slots(&Info::parse(&text)).verdict, verdict, "{text}");
        }
    }
}
