//! The page of the locks that this process holds.

use axum::response::Html;
use maud::html;

use super::{Section, count};
use crate::base::Base;
use crate::brief::Brief;
use crate::link;
use crate::plain::Plain;
use crate::routes::process::ProcessReport;

pub(crate) fn page(base: &Base, report: &ProcessReport) -> Html<String> {
    let content = html! {
        h1 { "This process" }
        p.note {
            "The locks that this page's client holds, from its own memory: no server is asked. Other processes of the "
            "service have their own locks."
        }
        @if report.held.is_empty() { p.empty { "This process holds no lock." } }
        @else {
            table.cards {
                thead {
                    tr {
                        th { "Key" } th { "Function" } th.number { "Held for" } th.number { "Left" }
                        th.number { "Callers in line" } th.number { "Token" }
                    }
                }
                tbody {
                    @for held in &report.held {
                        tr {
                            td.key {
                                @for (place, key) in held.keys.iter().enumerate() {
                                    @if place > 0 { ", " }
                                    a href=(link::to_lock(base, key.as_str())) { (Plain(key.as_str())) }
                                }
                            }
                            td.label data-name="Function" {
                                @if let Some(function) = held.function { code { (function) } } @else { span.none { "none" } }
                            }
                            td.number data-name="Held for" { (Brief(held.age)) }
                            td.number data-name="Left" { (Brief(held.remaining)) }
                            td.number data-name="Callers in line" { (held.waiting_callers) }
                            td.number.quiet[held.token.is_none()] data-name="Token" {
                                @if let Some(token) = held.token { (token) } @else { span.none { "–" } }
                            }
                        }
                    }
                }
            }
            @if report.more > 0 { p { "and " (count(report.more, "newer one", "newer ones")) } }
        }
    };
    super::page(base, Some(Section::Process), "This process", &content)
}
