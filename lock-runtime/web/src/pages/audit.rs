//! The page of the audit.

use axum::response::Html;
use maud::{Markup, html};

use super::Section;
use crate::base::Base;
use crate::link::{self, Link};
use crate::plain::Plain;
use crate::report::AuditLine;
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
                tbody { @for line in &report.lines { (row(base, line)) } }
            }
        }
        @if report.more { p.note { "Older lines are left out: `lockctl audit` shows them." } }
        p.note { "An operation without an outcome may have been carried out." }
    };
    super::page(base, Some(Section::Audit), "Audit", &content)
}

/// An RFC 3339 time, to the second.
fn time(at: &str) -> String {
    let seconds = at.get(..19).unwrap_or(at);
    format!("{} UTC", seconds.replace('T', " "))
}

fn row(base: &Base, line: &AuditLine) -> Markup {
    html! {
        tr title={ "operation " (Plain(&line.operation).to_string()) } {
            td.time data-name="When" { time datetime=(line.at) { (time(&line.at)) } }
            td.key data-name="Lock" { a href=(link::to_lock(base, &line.key)) { (Plain(&line.key)) } }
            td data-name="What" {
                span { (Plain(&line.action)) ": " strong { (Plain(&line.outcome_in_words)) }
                @if let Some(token) = line.token { " " span.below { "token " (token) } } }
            }
            td.label data-name="By" {
                span { (Plain(&line.by)) @if !line.user.is_empty() { " " span.below { "user " (Plain(&line.user)) } } }
            }
            td data-name="Reason" { span { (Plain(&line.reason)) } }
            td.label data-name="Holder" { span { (Plain(&line.holder)) } }
        }
    }
}
