//! `doctor`: whether the servers are fit for locks.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use lock_runtime::inspect::{Answer, ServerAnswers};
use lock_runtime::{LockClient, LockError};

use crate::args::{Connection, Doctor};
use crate::connection::PAGE;
use crate::doctor::finding::{Finding, Verdict};
use crate::doctor::info::Info;
use crate::doctor::records::Records;
use crate::doctor::sample::Sample;
use crate::doctor::{clock, records, rights, settings};
use crate::exit::{Exit, Failure};
use crate::operator;
use crate::output::{Form, print};
use crate::rights::Kind;

/// How many keys are looked at for fences and queues, for each lock of the sample.
const KEYS_PER_LOCK: usize = 100;

/// How often a round trip is measured.
const PINGS: usize = 50;

/// Prints each finding as soon as it is known, and remembers the worst.
struct Report {
    form: Form,
    worst: Verdict,
}

impl Report {
    fn add(&mut self, finding: &Finding) -> Result<(), Failure> {
        self.worst = self.worst.max(finding.verdict);
        print(self.form, finding)
    }
}

pub(crate) async fn doctor(
    connection: &Connection,
    doctor: Doctor,
    form: Form,
) -> Result<Exit, Failure> {
    let mut report = Report {
        form,
        worst: Verdict::Ok,
    };
    let client = match connection.connect(&operator::name()).await {
        Ok(client) => client,
        Err(failure) => {
            let change = "look at the URL, the network and the server's log";
            let found = Finding::fail("reachable", "no").since(failure.to_string(), change);
            report.add(&found)?;
            return Ok(failure.exit());
        }
    };
    report.add(&round_trips(&client).await?)?;
    report.add(&transport(&connection.url))?;
    for found in servers(&client, connection).await? {
        report.add(&found)?;
    }
    for found in sample(&client, &doctor).await? {
        report.add(&found)?;
    }
    for found in records(&client, connection, &doctor).await? {
        report.add(&found)?;
    }
    client.shutdown().await;
    Ok(match report.worst {
        Verdict::Ok | Verdict::Warn => Exit::DONE,
        Verdict::Fail => Exit::NEGATIVE,
    })
}

async fn round_trips(client: &LockClient) -> Result<Finding, LockError> {
    let mut took = Vec::with_capacity(PINGS);
    for _ in 0..PINGS {
        took.push(client.ping().await?);
    }
    took.sort_unstable();
    let (p50, p99) = (took[PINGS / 2], took[PINGS * 99 / 100]);
    let shown = format!("p50 {} µs, p99 {} µs", p50.as_micros(), p99.as_micros());
    Ok(match p50 > Duration::from_millis(10) {
        false => Finding::ok("reachable", shown),
        true => Finding::warn("reachable", shown).since(
            "each lock costs two of these round trips",
            "keep locks on a server near their callers",
        ),
    })
}

/// What can be read on the way.
fn transport(url: &str) -> Finding {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let host = rest.rsplit('@').next().unwrap_or_default();
    let is_local = ["127.", "localhost", "[::1]", "/"]
        .iter()
        .any(|local| host.starts_with(local));
    let is_encrypted =
        scheme.starts_with("rediss") || scheme.starts_with("valkeys") || scheme == "redlocks";
    match (is_encrypted, is_local || scheme.contains("unix")) {
        (true, _) => Finding::ok("tls", scheme),
        (false, true) => Finding::ok("tls", "none, on this machine"),
        (false, false) => Finding::warn("tls", "none").since(
            "passwords and keys can be read on the way",
            "use rediss:// (or redlocks://), or a unix socket",
        ),
    }
}

async fn servers(client: &LockClient, connection: &Connection) -> Result<Vec<Finding>, Failure> {
    let questions: [Vec<String>; 4] = [
        words(&["TIME"]),
        rights::who(),
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
                    .since(error.to_string(), "look at the server's log"),
            ],
        };
        findings.extend(found.into_iter().map(|found| found.on(&server)));
    }
    findings.extend(permissions(client, connection).await?);
    Ok(findings)
}

/// The findings about one server, from its answers to TIME, ACL WHOAMI, INFO and CLUSTER INFO.
fn of_server(answers: &[Answer], here: i64, connection: &Connection) -> Vec<Finding> {
    let [time, _, info, cluster] = answers else {
        return vec![Finding::fail("server", "unknown answers")];
    };
    let mut findings = Vec::new();
    if let Some(time) = micros_of(time) {
        findings.push(clock::beside_ours(time, here));
    }
    match info {
        Answer::Text(text) => findings.extend(settings::of(&Info::parse(text))),
        _ => findings.push(Finding::warn("info", "not allowed").since(
            "the version, memory, persistence and replicas cannot be looked at",
            "grant +info to the user of the doctor",
        )),
    }
    if let (Kind::Cluster, Answer::Text(text)) = (Kind::of(&connection.url), cluster) {
        findings.push(slots(&Info::parse(text)));
    }
    findings
}

fn slots(info: &Info) -> Finding {
    let covered = info.number("cluster_slots_ok").unwrap_or(0);
    let shown = format!("{covered} of 16384 slots");
    match info.text("cluster_state") {
        Some("ok") => Finding::ok("slots", shown),
        _ => Finding::fail("slots", shown).since(
            "locks of the other slots are refused (CLUSTERDOWN)",
            "CLUSTER NODES tells which primaries are away",
        ),
    }
}

/// Whether the user has the rights of a service: as the server says, or else by taking a lock.
async fn permissions(
    client: &LockClient,
    connection: &Connection,
) -> Result<Vec<Finding>, Failure> {
    let mut findings = Vec::new();
    for ServerAnswers { server, answers } in client.ask_servers(None, &[rights::who()]).await? {
        let Ok([Answer::Text(user)]) = answers.as_deref() else {
            continue;
        };
        let questions = rights::dry_runs(user, &connection.prefix);
        let answers = ask(client, &server, &questions).await?;
        let found = answers.and_then(|answers| rights::finding(user, &answers));
        findings.extend(found.map(|found| found.on(&server)));
    }
    if findings.is_empty() {
        findings.push(by_doing(client).await);
    }
    Ok(findings)
}

/// Takes a lock that no service has, and gives it back.
async fn by_doing(client: &LockClient) -> Finding {
    let taken = async {
        let guard = client.lock("doctor").wait(Duration::ZERO).acquire().await?;
        guard.renew().await?;
        guard.release().await
    };
    match taken.await {
        Ok(()) => Finding::ok("rights", "a lock was taken, renewed and released"),
        Err(error) if error.is_busy() => Finding::ok("rights", "another doctor has the lock"),
        Err(error) => Finding::fail("rights", "a lock cannot be taken").since(
            error.to_string(),
            "`lockctl acl service` prints what a service needs",
        ),
    }
}

/// Some locks, and the newest of their tokens beside the clock.
async fn sample(client: &LockClient, doctor: &Doctor) -> Result<Vec<Finding>, LockError> {
    let (mut sample, mut locks) = (Sample::default(), client.locks().page(PAGE));
    while sample.locks < doctor.sample
        && let Some(page) = locks.next().await?
    {
        page.iter().for_each(|lock| sample.add(lock));
    }
    let mut findings = sample.findings();
    let time = client.ask_servers(None, &[vec!["TIME".to_owned()]]).await?;
    let times = time.iter().filter_map(|server| {
        let answers = server.answers.as_ref().ok()?;
        micros_of(answers.first()?)
    });
    // Those of a quorum differ, and the foremost one counts.
    findings.extend(
        times
            .max()
            .and_then(|time| clock::beside_tokens(time, sample.newest)),
    );
    Ok(findings)
}

/// The fences and queues of each server.
async fn records(
    client: &LockClient,
    connection: &Connection,
    doctor: &Doctor,
) -> Result<Vec<Finding>, LockError> {
    let (mut findings, mut queued) = (Vec::new(), Vec::new());
    let memory = words(&["INFO", "memory"]);
    for ServerAnswers { server, answers } in client.ask_servers(None, &[memory]).await? {
        let limit = match answers.as_deref() {
            Ok([Answer::Text(text)]) => Info::parse(text).number("maxmemory"),
            _ => None,
        };
        let Some(records) = records_of(client, &server, &connection.prefix, doctor).await? else {
            continue;
        };
        let usage = |name: &String| words(&["MEMORY", "USAGE", name]);
        let questions: Vec<_> = records.examples.iter().map(usage).collect();
        let usage = match questions.is_empty() {
            true => Vec::new(),
            false => ask(client, &server, &questions).await?.unwrap_or_default(),
        };
        let limit = limit.filter(|limit| *limit > 0);
        findings.push(records.of_fences(&usage, limit).on(&server));
        queued.extend(records.queues);
    }
    // A lock of a quorum has a queue on each node.
    queued.sort_unstable();
    queued.dedup();
    let mut locks = Vec::with_capacity(queued.len());
    for key in queued.iter().take(Records::EXAMPLES) {
        // A name that only looks like that of a queue is not asked about.
        locks.extend(client.inspect(key.as_str()).await.ok());
    }
    findings.extend(records::of_queues(&locks));
    Ok(findings)
}

/// The fences and queues of one server, looked for in small steps; `None` if it does not answer or may not be asked.
async fn records_of(
    client: &LockClient,
    server: &str,
    prefix: &str,
    doctor: &Doctor,
) -> Result<Option<Records>, LockError> {
    let (mut records, mut cursor, pattern) =
        (Records::default(), "0".to_owned(), records::pattern(prefix));
    let page = PAGE.to_string();
    for _ in 0..doctor.sample.saturating_mul(KEYS_PER_LOCK) / PAGE as usize + 1 {
        let scan = words(&["SCAN", &cursor, "MATCH", &pattern, "COUNT", &page]);
        let answer = ask(client, server, &[scan])
            .await?
            .and_then(|mut answers| answers.pop());
        let Some((next, names)) = answer.and_then(records::scanned) else {
            return Ok(None);
        };
        names.into_iter().for_each(|name| records.add(name, prefix));
        if next == "0" {
            return Ok(Some(records));
        }
        cursor = next;
    }
    records.is_part = true;
    Ok(Some(records))
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
    // Compared with the server's, and no lease is counted from it.
    #[allow(clippy::disallowed_methods)]
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    micros(now.unwrap_or_default())
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
