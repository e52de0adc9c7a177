//! The page of the audit.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::response::Html;
use lock_runtime::inspect::AuditEntry;
use maud::{Markup, html};

use super::Section;
use crate::base::Base;
use crate::link::{self, Link};
use crate::plain::Plain;

use crate::routes::audit::AuditReport;

pub(crate) fn page(base: &Base, key: Option<&str>, report: &AuditReport) -> Html<String> {
    let content = html! {
        h1 { "Audit" }
        @if let Some(key) = key {
            p { "For the lock " span.key { (Plain(key)) } ". " a href=(Link::new(base, "audit")) { "For all locks" } }
        }
        @if report.lines.is_empty() {
            p.empty { "No operator has revoked " @if key.is_some() { "this" } @else { "a" } " lock, as far as the audit goes back." }
        }
        @else {
            table.cards {
                thead {
                    tr { th { "When" } th { "Lock" } th { "What" } th { "By" } th { "Reason" } th { "Holder" } }
                }
                tbody { @for entry in &report.lines { (row(base, entry)) } }
            }
        }
        @if report.more { p.note { "Older lines are left out: `lockctl audit` shows them." } }
        p.note { "An operation without an outcome may have been carried out." }
    };
    super::page(base, Some(Section::Audit), "Audit", &content)
}

/// A time of the audit as RFC 3339, capped at the year 9999: another program may have written it.
fn rfc3339(at: SystemTime) -> String {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(at.min(UNIX_EPOCH + LAST)).to_string()
}

/// An RFC 3339 time, to the second.
fn time(at: &str) -> String {
    let seconds = at.get(..19).unwrap_or(at);
    format!("{} UTC", seconds.replace('T', " "))
}

fn row(base: &Base, entry: &AuditEntry) -> Markup {
    let (key, at) = (entry.key.as_str(), rfc3339(entry.at));
    let operation = entry.operation.map(|id| format!("operation {id}"));
    html! {
        tr title=[operation] {
            td.time data-name="When" { time datetime=(at) { (time(&at)) } }
            td.key data-name="Lock" { a href=(link::to_lock(base, key)) { (Plain(key)) } }
            td data-name="What" {
                span { (entry.action) ": " strong { (entry.outcome) }
                @if let Some(token) = entry.token { " " span.below { "token " (token) } } }
            }
            td.label data-name="By" {
                span { (Plain(&entry.by)) @if !entry.user.is_empty() { " " span.below { "user " (Plain(&entry.user)) } } }
            }
            td data-name="Reason" { span { (Plain(&entry.reason)) } }
            td.label data-name="Holder" { span { (Plain(&entry.label)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_no_clock_shows_is_capped() {
        assert_eq!(rfc3339(UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
        let far = UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert_eq!(rfc3339(far), "9999-12-31T23:59:59.000Z");
    }
}
