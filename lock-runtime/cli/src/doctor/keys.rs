//! Examines keys on the servers: some locks, fences and queues.

use lock_runtime::inspect::{Answer, ServerAnswers};
use lock_runtime::{LockClient, LockError};

use super::clock::Newest;
use super::finding::Finding;
use super::info::Info;
use super::records::{self, Records};
use super::redisson;
use super::sample::Sample;
use super::{ask, micros_of, unanswered, words};
use crate::args::{Connection, Doctor, Kept};
use crate::connection::PAGE;
use crate::rights::Kind;

/// How many keys are scanned for locks, fences and queues, for each lock of the sample.
const KEYS_PER_LOCK: usize = 100;

/// The bytes of a fence that are read: a token has sixteen digits.
const FENCE: &str = "31";

/// The findings, and the newest tokens to compare with clocks.
#[derive(Default)]
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    pub(super) newest: Vec<Newest>,
}

/// How many pages are scanned: a few locks may be among many other keys.
fn pages(doctor: &Doctor) -> usize {
    doctor.sample.saturating_mul(KEYS_PER_LOCK) / PAGE as usize + 1
}

/// Examines some locks.
pub(super) async fn sample(
    client: &LockClient,
    connection: &Connection,
    doctor: &Doctor,
) -> Result<Found, LockError> {
    let (mut sample, mut locks) = (Sample::default(), client.locks().page_size(PAGE));
    for _ in 0..pages(doctor) {
        match locks.next_page().await {
            Ok(Some(page)) if sample.locks < doctor.sample => {
                page.iter().for_each(|lock| sample.add(lock));
            }
            Ok(_) => break,
            Err(error) => {
                return Ok(Found {
                    findings: vec![unanswered("locks", &error)],
                    ..Found::default()
                });
            }
        }
    }
    sample.is_part = locks.position().is_some();
    let of_redisson = of_redisson(client, connection, &sample.other_type).await?;
    sample.recognize(|key| of_redisson.iter().any(|known| known == key));
    let mut newest = Vec::new();
    if let Some(token) = sample.newest
        && let Some(clock) = foremost(client).await?
    {
        let server = String::new();
        newest.push(Newest {
            server,
            clock,
            token,
        });
    }
    Ok(Found {
        findings: sample.findings(),
        newest,
    })
}

/// Returns the keys that are Redisson's locks, as far as the user may read them.
async fn of_redisson(
    client: &LockClient,
    connection: &Connection,
    keys: &[String],
) -> Result<Vec<String>, LockError> {
    let keys = &keys[..keys.len().min(Records::EXAMPLES)];
    let name = |key: &String| redisson::fields(&format!("{}{key}", connection.prefix));
    let questions: Vec<_> = keys.iter().map(name).collect();
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    let mut known = Vec::new();
    // In a cluster, only the node that has the key answers.
    for ServerAnswers { answers, .. } in client.ask_servers(None, &questions).await? {
        let answers = answers.unwrap_or_default();
        let locks = keys.iter().zip(&answers);
        known.extend(
            locks
                .filter(|(_, answer)| redisson::is_lock(answer))
                .map(|(key, _)| key.clone()),
        );
    }
    Ok(known)
}

/// The foremost clock: the clocks of a quorum differ.
async fn foremost(client: &LockClient) -> Result<Option<i64>, LockError> {
    let asked = client.ask_servers(None, &[words(&["TIME"])]).await?;
    let times = asked.iter().filter_map(|server| {
        let answers = server.answers.as_ref().ok()?;
        micros_of(answers.first()?)
    });
    Ok(times.max())
}

/// Examines the fences and queues of each server.
pub(super) async fn records(
    client: &LockClient,
    connection: &Connection,
    doctor: &Doctor,
) -> Result<Found, LockError> {
    let (mut found, mut queued) = (Found::default(), Vec::new());
    if connection.record == Kept::Redisson {
        // Redisson's record has neither.
        return Ok(found);
    }
    let memory = words(&["INFO", "memory"]);
    for ServerAnswers { server, answers } in client.ask_servers(None, &[memory]).await? {
        let limit = match answers.as_deref() {
            Ok([Answer::Text(text)]) => Info::parse(text).number("maxmemory"),
            _ => None,
        };
        let records = match records_of(client, &server, &connection.prefix, doctor).await? {
            Ok(records) => records,
            Err(finding) => {
                found.findings.push(finding.on(&server));
                continue;
            }
        };
        let usage = |name: &String| words(&["MEMORY", "USAGE", name]);
        let questions: Vec<_> = records.examples.iter().map(usage).collect();
        let usage = if questions.is_empty() {
            Vec::new()
        } else {
            ask(client, &server, &questions).await?.unwrap_or_default()
        };
        let limit = limit.filter(|limit| *limit > 0);
        found
            .findings
            .push(records.of_fences(&usage, limit).on(&server));
        if let Some(token) = records.newest
            && let Some(clock) = clock_of(client, connection, &server).await?
        {
            found.newest.push(Newest {
                server,
                clock,
                token,
            });
        }
        queued.extend(records.queues);
    }
    // A lock of a quorum has a queue on each node.
    queued.sort_unstable();
    queued.dedup();
    let mut locks = Vec::with_capacity(queued.len());
    for key in queued.iter().take(Records::EXAMPLES) {
        match client.inspect(key.as_str()).await {
            Ok(lock) => locks.push(lock),
            Err(error) if error.is_rejected() => {
                found.findings.push(unanswered("queues", &error));
                break;
            }
            // Another key, whose name only looks like a queue's.
            Err(_) => {}
        }
    }
    found.findings.extend(records::of_queues(&locks));
    Ok(found)
}

/// The clock to compare with a server's fences: on a quorum a token may be another node's time.
async fn clock_of(
    client: &LockClient,
    connection: &Connection,
    server: &str,
) -> Result<Option<i64>, LockError> {
    if Kind::of(&connection.url) == Kind::Quorum {
        return foremost(client).await;
    }
    let time = ask(client, server, &[words(&["TIME"])]).await?;
    Ok(time.and_then(|answers| micros_of(answers.first()?)))
}

/// Finds the fences and queues of one server in small steps, or returns why it cannot.
async fn records_of(
    client: &LockClient,
    server: &str,
    prefix: &str,
    doctor: &Doctor,
) -> Result<Result<Records, Finding>, LockError> {
    let (mut records, mut cursor, pattern) =
        (Records::default(), "0".to_owned(), records::pattern(prefix));
    let (page, mut left) = (PAGE.to_string(), doctor.sample);
    for _ in 0..pages(doctor) {
        let scan = words(&["SCAN", &cursor, "MATCH", &pattern, "COUNT", &page]);
        let answer = ask(client, server, &[scan]).await?;
        let (next, names) = match answer.and_then(|mut answers| answers.pop()) {
            Some(Answer::Error(refusal)) => return Ok(Err(Finding::unchecked("fences", refusal))),
            Some(answer) => match records::scanned(answer) {
                Some(scanned) => scanned,
                None => return Ok(Err(Finding::unchecked("fences", "an unknown answer"))),
            },
            None => {
                let finding = Finding::fail("fences", "no answer");
                return Ok(Err(
                    finding.since("the server was asked for its keys", "check its log")
                ));
            }
        };
        let mut fences = names;
        fences.retain(|name| records.add(name, prefix));
        fences.truncate(left);
        left -= fences.len();
        records.add_tokens(&tokens(client, server, &fences).await?);
        if next == "0" {
            return Ok(Ok(records));
        }
        cursor = next;
    }
    records.is_part = true;
    Ok(Ok(records))
}

/// Reads the tokens of fences. A viewer may read a part of a value, and a service all of it.
async fn tokens(
    client: &LockClient,
    server: &str,
    fences: &[String],
) -> Result<Vec<Answer>, LockError> {
    if fences.is_empty() {
        return Ok(Vec::new());
    }
    let part = |name: &String| words(&["GETRANGE", name, "0", FENCE]);
    let questions: Vec<_> = fences.iter().map(part).collect();
    let answers = ask(client, server, &questions).await?.unwrap_or_default();
    if !matches!(answers.first(), Some(Answer::Error(_))) {
        return Ok(answers);
    }
    let whole = |name: &String| words(&["GET", name]);
    let questions: Vec<_> = fences.iter().map(whole).collect();
    Ok(ask(client, server, &questions).await?.unwrap_or_default())
}
