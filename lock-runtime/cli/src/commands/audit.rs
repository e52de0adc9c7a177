//! `audit`: shows what operators did to locks.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lock_runtime::inspect::AuditEntry;
use serde::Serialize;

use crate::args::{Audit, Connection};
use crate::exit::{Exit, Failure};
use crate::output::{Form, Plain, Whom, print};

/// A line of the audit.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// By the server's clock, as RFC 3339.
    at: String,
    operation: &'a str,
    by: &'a str,
    user: &'a str,
    action: &'a str,
    key: &'a str,
    token: Option<u64>,
    holder: &'a str,
    reason: &'a str,
    outcome: &'a str,
    #[serde(skip)]
    outcome_in_words: &'a str,
}

impl<'a> Line<'a> {
    fn of(entry: &'a AuditEntry) -> Line<'a> {
        Line {
            at: rfc3339(entry.at),
            operation: &entry.operation,
            by: &entry.by,
            user: &entry.user,
            action: &entry.action,
            key: entry.key.as_str(),
            token: entry.token.map(|token| token.get()),
            holder: &entry.label,
            reason: &entry.reason,
            outcome: &entry.outcome,
            outcome_in_words: entry.outcome_in_words(),
        }
    }
}

/// A time of the audit as RFC 3339, capped at the year 9999: another program may have written it.
fn rfc3339(at: SystemTime) -> String {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(at.min(UNIX_EPOCH + LAST)).to_string()
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line {
            at,
            operation,
            by,
            user,
            action,
            key,
            token,
            holder,
            reason,
            outcome: _,
            outcome_in_words,
        } = self;
        let token = token.map_or_else(|| "-".to_owned(), |token| token.to_string());
        write!(f, "{at} {} `{}` {token}", Plain(action), Plain(key))?;
        write!(f, " of {}", Whom(holder))?;
        if !by.is_empty() {
            write!(f, ", by {}", Plain(by))?;
        }
        if !user.is_empty() {
            write!(f, " (user {})", Plain(user))?;
        }
        write!(f, ": {}", Plain(outcome_in_words))?;
        if !reason.is_empty() {
            write!(f, "; {}", Plain(reason))?;
        }
        write!(f, " [{}]", Plain(operation))
    }
}

pub(crate) async fn audit(
    connection: &Connection,
    audit: Audit,
    form: Form,
) -> Result<Exit, Failure> {
    let client = connection.connect(&connection.operator()).await?;
    let mut pages = client.audit();
    if let Some(since) = audit.since {
        pages = pages.since(*since);
    }
    if let Some(key) = audit.key {
        pages = pages.key(key);
    }
    while let Some(page) = pages.next().await? {
        for entry in &page {
            print(form, &Line::of(entry))?;
        }
    }
    client.shutdown().await;
    Ok(Exit::DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_beyond_the_calendar_is_printed() {
        assert_eq!(rfc3339(UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
        let far = UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert_eq!(rfc3339(far), "9999-12-31T23:59:59.000Z");
    }
}
