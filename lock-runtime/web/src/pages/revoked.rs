//! The page after a revocation.

use axum::response::Html;
use lock_runtime::inspect::Receipt;
use maud::html;

use crate::base::Base;
use crate::link::{self, Link};
use crate::plain::Plain;

pub(crate) fn page(base: &Base, receipt: &Receipt) -> Html<String> {
    let key = receipt.key.as_str();
    let audit = Link::new(base, "audit").with("key", key);
    let content = html! {
        h1 { "Revoked " span.key { (Plain(key)) } }
        p {
            "The lock was taken from "
            @if receipt.label.is_empty() { "its holder" } @else { strong { (Plain(&receipt.label)) } }
            @if let Some(nodes) = receipt.nodes { " on " (nodes) " nodes" }
            @if receipt.handed_off { ". A waiter has it now." } @else { ". It is free." }
        }
        p.warning { "The old holder may write until it notices." }
        @if !receipt.audited {
            p.notice role="alert" { "The audit has the intention, but the outcome could not be written to it." }
        }
        p.note { "Operation " code { (receipt.operation) } }
        p.links {
            a href=(link::to_lock(base, key)) { "The lock now" }
            a href=(audit) { "Audit of this lock" }
        }
    };
    super::page(base, None, "Revoked", &content)
}
