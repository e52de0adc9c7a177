//! The page of the held locks.

use axum::response::Html;
use lock_runtime::inspect::ListedLock;
use maud::{Markup, html};

use super::{Section, badge, brief, count, remaining};
use crate::base::Base;
use crate::link::{self, Link};
use crate::listing::{Part, Wanted};
use crate::plain::Plain;

pub(crate) fn page(base: &Base, wanted: &Wanted, is_first: bool, part: &Part) -> Html<String> {
    let next = part.next.as_ref().map(|next| {
        let from = next.to_string();
        of(base, wanted).with("from", &from)
    });
    let content = html! {
        h1 { "Locks" }
        (search(base, wanted))
        @if part.locks.is_empty() {
            p.empty { (nothing(wanted, is_first, next.is_some())) }
            @if let Some(key) = &wanted.pattern && is_one_key(key) && next.is_none() { (one_key(base, key)) }
        } @else {
            (table(base, &part.locks))
        }
        (pager(&of(base, wanted), is_first, next.as_ref(), part.locks.len()))
    };
    super::page(base, Some(Section::Locks), "Locks", &content)
}

/// A link to the first page with these filters.
fn of(base: &Base, wanted: &Wanted) -> Link {
    Link::new(base, "list")
        .with_some("match", wanted.pattern.as_deref())
        .with_some("holder", wanted.holder.as_deref())
        .with_some("waiting", wanted.is_awaited.then_some("1"))
}

fn search(base: &Base, wanted: &Wanted) -> Markup {
    html! {
        form.search role="search" action=(Link::new(base, "list")) {
            label { "Key" input type="text" name="match" value=[&wanted.pattern] placeholder="order:*" autocapitalize="none"
                autocomplete="off" spellcheck="false"; }
            label { "Holder" input type="text" name="holder" value=[&wanted.holder] placeholder="api-7" autocapitalize="none"
                autocomplete="off" spellcheck="false"; }
            label.check { input type="checkbox" name="waiting" value="1" checked[wanted.is_awaited]; "with waiters" }
            button { "Show" }
            @if !wanted.is_all() { a href=(Link::new(base, "list")) { "all" } }
        }
    }
}

/// Returns whether a pattern is the key of one lock, and can be a part of another pattern.
fn is_one_key(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '[', '\\']) && pattern.len() <= 250
}

/// Suggestions for a user who typed a key, or a part of one, instead of a pattern.
fn one_key(base: &Base, key: &str) -> Markup {
    html! {
        p {
            "Without `*`, this is the whole key of one lock. "
            a href=(link::to_lock(base, key)) { "Show this lock" } " or "
            a href=(Link::new(base, "list").with("match", &format!("*{key}*"))) { "search for the text in all keys" } "."
        }
    }
}

fn nothing(wanted: &Wanted, is_first: bool, has_more: bool) -> &'static str {
    match (has_more, is_first, wanted.is_all()) {
        (true, _, _) => "None of the keys that were read matches. There are more keys to read.",
        (false, false, _) => "There are no more locks.",
        (false, true, true) => "No lock is held.",
        (false, true, false) => "No held lock matches.",
    }
}

fn table(base: &Base, locks: &[ListedLock]) -> Markup {
    html! {
        table.cards {
            thead {
                tr {
                    th { "Key" } th { "Holder" } th.number { "Age" } th.number { "Left" }
                    th.number { "Waiters" } th.number { "Token" }
                }
            }
            tbody {
                @for lock in locks {
                    tr {
                        td.key { a href=(link::to_lock(base, lock.key.as_str())) { (Plain(lock.key.as_str())) } }
                        td.label data-name="Holder" { (holder(lock)) }
                        td.number.quiet[lock.holder.age.is_none()] data-name="Age" { (brief(lock.holder.age)) }
                        td.number data-name="Left" { (remaining(lock.holder.remaining)) }
                        td.number.quiet[lock.waiter_count == 0] data-name="Waiters" {
                            @if lock.waiter_count > 0 {
                                strong { (lock.waiter_count) }
                                @if lock.longest_wait.is_some() { " for " (brief(lock.longest_wait)) }
                            } @else { span.none { "0" } }
                        }
                        td.number.quiet[lock.holder.token.is_none()] data-name="Token" {
                            @if let Some(token) = lock.holder.token { (token) } @else { span.none { "–" } }
                        }
                    }
                }
            }
        }
    }
}

fn holder(lock: &ListedLock) -> Markup {
    html! {
        span {
            (badge(lock.holder.kind, lock.holder_count)) " "
            @if lock.holder.label.is_empty() { span.none { "no label" } } @else { (Plain(&lock.holder.label)) }
        }
    }
}

fn pager(first: &Link, is_first: bool, next: Option<&Link>, shown: usize) -> Markup {
    html! {
        p.pager {
            @if !is_first { a href=(first) { "First page" } }
            @if shown > 0 {
                span { (count(shown, "lock", "locks")) @if next.is_some() || !is_first { " on this page" } }
            }
            @if let Some(next) = next { a.next rel="next" href=(next) { "Next page" } }
        }
        @if next.is_some() || !is_first {
            p.note {
                "Pages are in no order. A lock that is granted or freed in the meantime may be on any page, or on none."
            }
        }
    }
}
