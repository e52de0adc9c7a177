//! The page of the audit.

use axum::response::Html;
use lock_runtime::inspect::{AuditEntry, AuditOutcome, Rfc3339};
use maud::{Markup, html};

use super::{Section, time};
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
        @if report.entries.is_empty() {
            p.empty { "No operator has revoked " @if key.is_some() { "this" } @else { "a" } " lock, as far as the audit goes back." }
        }
        @else {
            table.cards {
                thead {
                    tr { th { "When" } th { "Lock" } th { "What" } th { "By" } th { "Reason" } th { "Holder" } }
                }
                tbody { @for entry in &report.entries { (row(base, entry)) } }
            }
        }
        @if report.more { p.note { "Older entries are left out: `lockctl audit` shows them." } }
        p.note { "An operation without an outcome may have been carried out." }
    };
    super::page(base, Some(Section::Audit), "Audit", &content)
}

/// An outcome in words, in which texts of other programs are escaped.
fn outcome(outcome: &AuditOutcome) -> Markup {
    match outcome {
        AuditOutcome::Failed(error) => html! { "failed: " (Plain(error)) },
        AuditOutcome::Other(text) => html! { (Plain(text)) },
        known => html! { (known) },
    }
}

fn row(base: &Base, entry: &AuditEntry) -> Markup {
    let (key, at) = (entry.key.as_str(), Rfc3339(entry.at).to_string());
    let operation = entry.operation.map(|id| format!("operation {id}"));
    html! {
        tr title=[operation] {
            td.time data-name="When" { time datetime=(at) { (time(&at)) } }
            td.key data-name="Lock" { a href=(link::to_lock(base, key)) { (Plain(key)) } }
            td data-name="What" {
                span { (Plain(entry.action.as_str())) ": " strong { (outcome(&entry.outcome)) }
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
