//! The audit: a stream next to the locks. Operators' programs append each action and its outcome to it.

use std::time::{Duration, UNIX_EPOCH};

use redis::Value;

use super::encoder::Argument;
use super::error_reply::words_of;
use super::node::queries::Ask;
use super::records::string_record::micros;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{Cursor, Line};
use crate::key::LockKey;
use crate::lease::fencing_token::FencingToken;
use crate::state::{AuditAction, AuditOutcome};

/// About how many lines are kept.
const KEPT: &str = "10000";

/// How many lines are read in one command.
const PAGE: &str = "250";

/// The names of a line's fields, in order.
const FIELDS: [&str; 9] = [
    "operation",
    "by",
    "user",
    "action",
    "key",
    "token",
    "label",
    "reason",
    "outcome",
];

pub(super) async fn append(to: &impl Ask, stream: &str, line: &Line) -> Result<(), WireError> {
    let texts = texts(line);
    let mut command = ["XADD", stream, "MAXLEN", "~", KEPT, "*"]
        .map(Argument::Text)
        .to_vec();
    for (field, text) in FIELDS.into_iter().zip(&texts) {
        command.extend([field, text].map(Argument::Text));
    }
    match &to.ask(stream, &[command]).await?[..] {
        [Value::BulkString(_) | Value::SimpleString(_)] => Ok(()),
        [Value::ServerError(error)] => {
            let text = format!("the audit cannot be written: {}", words_of(error));
            Err(WireError::refused(text))
        }
        _ => Err(WireError::refused(
            "the server's answer about the audit is unknown",
        )),
    }
}

/// Returns the lines of the next page, and moves the cursor past them.
pub(super) async fn page(
    of: &impl Ask,
    stream: &str,
    since: Option<Duration>,
    cursor: &mut Cursor,
) -> Result<Vec<Line>, WireError> {
    let (lines, next) = lines(of, stream, since, &cursor.position.cursor).await?;
    cursor.is_over = next.is_none();
    cursor.position.cursor = next.unwrap_or_default();
    Ok(lines)
}

/// Returns the lines from `next` on, which is empty at the beginning, and the start of the next page; `None` at the
/// end.
pub(super) async fn lines(
    of: &impl Ask,
    stream: &str,
    since: Option<Duration>,
    next: &str,
) -> Result<(Vec<Line>, Option<String>), WireError> {
    let start = match next {
        "" => {
            let time = [vec![Argument::Text("TIME")]];
            let answers = of.ask(stream, &time).await?;
            start(since, answers.first().and_then(micros).unwrap_or(0))
        }
        next => next.to_owned(),
    };
    let range = ["XRANGE", stream, &start, "+", "COUNT", PAGE].map(Argument::Text);
    let answers = of.ask(stream, &[range.to_vec()]).await?;
    parse(answers.first().unwrap_or(&Value::Nil))
}

/// Returns the texts of a line's fields, in the order of the names.
fn texts(line: &Line) -> [String; 9] {
    let token = line.token.map(|token| token.get().to_string());
    let operation = line.operation.map(|operation| operation.to_string());
    [
        operation.unwrap_or_default(),
        line.by.clone(),
        line.user.clone(),
        line.action.as_str().to_owned(),
        line.key.as_str().to_owned(),
        token.unwrap_or_default(),
        line.label.clone(),
        line.reason.clone(),
        line.outcome.text(),
    ]
}

/// Returns the start of the lines that are no older than `since` when the server's time is `now` (µs).
fn start(since: Option<Duration>, now: u64) -> String {
    match since {
        None => "-".to_owned(),
        Some(since) => {
            let since = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
            (now / 1_000).saturating_sub(since).to_string()
        }
    }
}

/// Parses the lines of an answer, and the start of the next page; `None` if there are no lines.
fn parse(answer: &Value) -> Result<(Vec<Line>, Option<String>), WireError> {
    if let Value::ServerError(error) = answer {
        return Err(WireError::refused(format!(
            "the audit cannot be read: {}",
            words_of(error)
        )));
    }
    let Value::Array(entries) = answer else {
        return Err(WireError::refused(
            "the server's answer about the audit is unknown",
        ));
    };
    let (mut lines, mut next) = (Vec::new(), None);
    for entry in entries {
        let Value::Array(entry) = entry else { continue };
        let [Value::BulkString(id), Value::Array(fields)] = &entry[..] else {
            continue;
        };
        let id = String::from_utf8_lossy(id);
        lines.extend(line(&id, fields));
        // The next page starts after this line.
        next = Some(format!("({id}"));
    }
    Ok((lines, next))
}

/// Parses the line with this id, which begins with the server's time (ms).
fn line(id: &str, fields: &[Value]) -> Option<Line> {
    let millis: u64 = id.split('-').next()?.parse().ok()?;
    let text = |name: &str| {
        let mut pairs = fields.chunks_exact(2);
        let is_it = |pair: &&[Value]| matches!(&pair[0], Value::BulkString(field) if field == name.as_bytes());
        match pairs.find(is_it).map(|pair| &pair[1]) {
            Some(Value::BulkString(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        }
    };
    Some(Line {
        at: UNIX_EPOCH.checked_add(Duration::from_millis(millis))?,
        operation: text("operation").parse().ok(),
        by: text("by"),
        user: text("user"),
        action: AuditAction::parse(text("action")),
        key: LockKey::from(text("key")),
        token: text("token").parse().ok().map(FencingToken::new),
        label: text("label"),
        reason: text("reason"),
        outcome: AuditOutcome::parse(text("outcome")),
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    #[test]
    fn line_is_read_as_it_was_written() {
        let line = Line {
            at: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
            operation: Some(Uuid::from_u128(7)),
            by: "ann@ops-1".to_owned(),
            user: "operator".to_owned(),
            action: AuditAction::Revoke,
            key: LockKey::from("order:42"),
            token: Some(FencingToken::new(17)),
            label: "api-7\nship".to_owned(),
            reason: "stuck".to_owned(),
            outcome: AuditOutcome::Freed,
        };
        let texts = texts(&line);
        let fields = FIELDS
            .into_iter()
            .zip(&texts)
            .flat_map(|(field, value)| [text(field), text(value)]);
        let entry = Value::Array(vec![
            text("1700000000123-4"),
            Value::Array(fields.collect()),
        ]);
        let (lines, next) = parse(&Value::Array(vec![entry])).unwrap();
        assert_eq!(lines, [line]);
        assert_eq!(next.as_deref(), Some("(1700000000123-4"));
    }

    #[test]
    fn lines_of_others_are_read_as_far_as_they_go() {
        let entry = |id: &str, fields: &[&str]| {
            let fields = fields.iter().map(|field| text(field)).collect();
            Value::Array(vec![text(id), Value::Array(fields)])
        };
        let later = ["action", "extend", "outcome", "extended", "operation", "7"];
        let answer = [entry("5-0", &["x"]), Value::Nil, entry("6-0", &later)];
        let (lines, next) = parse(&Value::Array(answer.to_vec())).unwrap();
        assert_eq!(next.as_deref(), Some("(6-0"));
        let words = lines
            .iter()
            .map(|line| [line.action.as_str(), line.outcome.as_str()]);
        assert!(words.eq([["", ""], ["extend", "extended"]]), "{lines:?}");
        assert!(lines.iter().all(|line| line.operation.is_none()));
        assert!(parse(&Value::Nil).is_err());
    }

    #[test]
    fn lines_are_read_from_a_time_of_the_server() {
        assert_eq!(start(None, 5), "-");
        assert_eq!(start(Some(Duration::from_secs(1)), 3_000_999), "2000");
        assert_eq!(start(Some(Duration::MAX), 3_000_999), "0");
    }
}
