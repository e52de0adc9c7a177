//! The run history of a lock: a stream beside its record. Each run adds an entry at its beginning and one at its end.
//!
//! The history is advisory: an entry is sent without waiting for its answer, and a failure never reaches the call.

use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redis::Value;

use super::CLOCK;
use super::encoder::{Argument, millis};
use super::error_reply::{ErrorClass, classify, words_of};
use super::node::queries::{Ask, is_of_another_type};
use super::node::{Purpose, ScriptCall};
use super::records::string_record::{SHOWN, micros};
use super::redis_wire::{Records, RedisWire};
use super::scripts::Scripts;
use super::transport::{ConnectionLost, SendOrder};
use crate::backend::wire::error::WireError;
use crate::backend::wire::run_entry::{
    LineContent, MOST_ENTRIES, RunEntry, RunEvent, RunLine, runs,
};
use crate::key::{RecordKind, RecordNames};
use crate::lease::owner_id::OwnerId;
use crate::lease::record::is_shared;
use crate::lease::run_record::Finish;
use crate::state::Run;

/// Why an entry may not have been written.
#[derive(Debug)]
pub(crate) enum NotWritten {
    /// The server refuses it.
    Refused(WireError),
    /// It may be written elsewhere, or later.
    Unknown,
}

/// Handles the failure of an entry, on the thread that has read the answer. Must not block.
pub(crate) type OnNotWritten = Box<dyn FnOnce(NotWritten) + Send>;

impl RedisWire {
    /// Sends an entry without waiting for its answer. The entry of an end goes out together with the next command.
    pub(crate) fn submit_run(&self, entry: &RunEntry, on_failure: OnNotWritten) {
        let Some(connection) = self.topology.connection_of(&entry.names.first().lock) else {
            return on_failure(NotWritten::Unknown);
        };
        let number = entry.id.number.to_string();
        let (arguments, count) = arguments(entry, &number, false);
        let has_recorded = connection.has_recorded_runs.clone();
        let by_source = !has_recorded.load(Ordering::Relaxed);
        let write = |output: &mut Vec<u8>| {
            Scripts::record_run().write(output, by_source, &entry.names, &arguments[..count]);
        };
        let order = match entry.event {
            RunEvent::Began => SendOrder::Now,
            RunEvent::Ended(_) => SendOrder::WithNext,
        };
        let on_answer = move |answer| match failure(answer) {
            None => has_recorded.store(true, Ordering::Relaxed),
            Some(failure) => {
                has_recorded.store(false, Ordering::Relaxed);
                on_failure(failure);
            }
        };
        connection
            .transport
            .send_unawaited(order, &write, Box::new(on_answer));
    }

    /// Writes an entry, and waits for the answer.
    pub(crate) async fn write_run(&self, entry: &RunEntry) -> Result<(), WireError> {
        let number = entry.id.number.to_string();
        let (arguments, count) = arguments(entry, &number, true);
        let call = ScriptCall {
            script: Scripts::record_run(),
            names: &entry.names,
            arguments: &arguments[..count],
            shortcut: None,
            trial: None,
        };
        let written = self.topology.run(Purpose::End, &call, &mut |_| {}).await;
        written.map(drop)
    }

    /// Returns the runs of a lock, the last one first.
    pub(crate) async fn runs(&self, names: &RecordNames) -> Result<Vec<Run>, WireError> {
        let of = |record| Argument::Name(names.of(record));
        let text = Argument::Text;
        let most = MOST_ENTRIES.to_string();
        let history = [text("XRANGE"), of(RecordKind::Runs), text("-"), text("+")];
        let history = [&history[..], &[text("COUNT"), text(&most)]].concat();
        let lock = of(RecordKind::Lock);
        // One transaction: a run that ended in between would look as if it had died.
        let answers = match &self.records {
            Records::Native(_) => {
                let value = vec![
                    text("GETRANGE"),
                    lock,
                    text("0"),
                    Argument::Number(SHOWN - 1),
                ];
                let shares = [text("ZRANGEBYSCORE"), of(RecordKind::Shares)];
                let shares = [&shares[..], &["0", "+inf", "WITHSCORES"].map(text)].concat();
                let commands = [value, shares, vec![text("TIME")], history];
                self.topology.ask(&names.lock, &commands).await?
            }
            Records::Redisson(_) => {
                let commands = [vec![text("HGETALL"), lock], history];
                self.topology.ask(&names.lock, &commands).await?
            }
        };
        let (history, holders) = answers.split_last().ok_or_else(unknown)?;
        let lines = parse(history)?;
        match holders {
            [value, shares, time] => {
                let holders = Holders::of(value, shares, time)?;
                Ok(runs(lines, |owner| holders.contain(owner)))
            }
            [fields] => {
                refuse(fields)?;
                Ok(runs(lines, |owner| has_field_of(fields, owner)))
            }
            _ => Err(unknown()),
        }
    }
}

/// The arguments of the script, and how many of them are used. An entry that is late says by how much.
fn arguments<'a>(
    entry: &'a RunEntry,
    number: &'a str,
    is_late: bool,
) -> ([Argument<'a>; 15], usize) {
    let text = Argument::Text;
    let mut arguments = [text(""); 15];
    let mut count = 0;
    let mut add = |more: &[Argument<'a>]| {
        arguments[count..count + more.len()].copy_from_slice(more);
        count += more.len();
    };
    add(&[Argument::Number(2 * i64::from(entry.kept))]);
    add(&[text("owner"), text(entry.id.owner_id.as_str())]);
    add(&[text("run"), text(number)]);
    add(&[text("label"), text(&entry.label)]);
    add(&[text("kept"), Argument::Number(entry.kept.into())]);
    if let RunEvent::Ended(Finish { end, took }) = entry.event {
        add(&[text("ended"), text(end.as_str())]);
        add(&[text("took"), Argument::Number(millis(took))]);
    }
    if is_late {
        let late = millis(CLOCK.now().since(entry.at));
        add(&[text("late"), Argument::Number(late)]);
    }
    (arguments, count)
}

/// Returns why an entry may not have been written; `None` if it was.
fn failure(answer: Result<Value, ConnectionLost>) -> Option<NotWritten> {
    let Ok(answer) = answer else {
        return Some(NotWritten::Unknown);
    };
    let error = answer.extract_error().err()?;
    Some(match classify(&error) {
        ErrorClass::Final(error @ WireError::Refused(_)) => NotWritten::Refused(error),
        _ => NotWritten::Unknown,
    })
}

/// The owners that hold a lock in this crate's record.
struct Holders<'a> {
    value: &'a [u8],
    /// The members of the record of shares, with their expiries (µs).
    shares: &'a [Value],
    /// The server's time (µs).
    now: f64,
}

impl<'a> Holders<'a> {
    fn of(value: &'a Value, shares: &'a Value, time: &Value) -> Result<Holders<'a>, WireError> {
        refuse(value)?;
        refuse(shares)?;
        Ok(Holders {
            value: match value {
                Value::BulkString(value) => value,
                _ => &[],
            },
            shares: match shares {
                Value::Array(shares) => shares,
                _ => &[],
            },
            now: micros(time).ok_or_else(unknown)? as f64,
        })
    }

    fn contain(&self, owner: &OwnerId) -> bool {
        if !is_shared(self.value) {
            return self.value.starts_with(owner.as_bytes());
        }
        self.shares.iter().any(|share| match share {
            Value::Array(pair) => match &pair[..] {
                [Value::BulkString(member), Value::Double(expiry)] => {
                    member.starts_with(owner.as_bytes()) && *expiry > self.now
                }
                _ => false,
            },
            _ => false,
        })
    }
}

/// Returns whether one of the fields of Redisson's record stands for this owner, of whichever client.
fn has_field_of(fields: &Value, owner: &OwnerId) -> bool {
    let Value::Map(fields) = fields else {
        return false;
    };
    let end = format!(":{}", owner.number());
    fields.iter().any(|(field, _)| match field {
        Value::BulkString(field) => field.ends_with(end.as_bytes()),
        _ => false,
    })
}

/// Fails for an error other than a record of another type, which no owner of this crate holds.
fn refuse(answer: &Value) -> Result<(), WireError> {
    match answer {
        Value::ServerError(error) if !is_of_another_type(answer) => {
            let text = format!("the server refuses to show the runs: {}", words_of(error));
            Err(WireError::refused(text))
        }
        _ => Ok(()),
    }
}

/// Parses the entries of a history. A record of another type has none.
fn parse(answer: &Value) -> Result<Vec<RunLine>, WireError> {
    refuse(answer)?;
    let Value::Array(entries) = answer else {
        return Ok(Vec::new());
    };
    let lines = entries.iter().filter_map(|entry| match entry {
        Value::Array(entry) => match &entry[..] {
            [Value::BulkString(id), Value::Array(fields)] => line(id, fields),
            _ => None,
        },
        _ => None,
    });
    Ok(lines.collect())
}

/// Parses the entry with this id, which begins with the server's time (ms). An entry of another program has no owner.
fn line(id: &[u8], fields: &[Value]) -> Option<RunLine> {
    let text = |name: &str| {
        let mut pairs = fields.chunks_exact(2);
        let is_it = |pair: &&[Value]| matches!(&pair[0], Value::BulkString(field) if field == name.as_bytes());
        match &pairs.find(is_it)?[1] {
            Value::BulkString(text) => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        }
    };
    let millis: u64 = std::str::from_utf8(id)
        .ok()?
        .split('-')
        .next()?
        .parse()
        .ok()?;
    let late: u64 = text("late").and_then(|late| late.parse().ok()).unwrap_or(0);
    let owner = text("owner")?;
    let content = match text("ended") {
        None => LineContent::Began,
        Some(word) => LineContent::Ended {
            word,
            took: Duration::from_millis(text("took")?.parse().ok()?),
        },
    };
    Some(RunLine {
        at: at(millis.saturating_sub(late))?,
        owner_id: OwnerId::parse_prefix(owner.as_bytes())?,
        number: text("run")?,
        label: text("label")?,
        kept: text("kept")?.parse().ok()?,
        content,
    })
}

fn at(millis: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(millis))
}

fn unknown() -> WireError {
    WireError::refused("the server's answer about the runs is unknown")
}
