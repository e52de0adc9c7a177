//! The page of one lock.

use axum::response::Html;
use lock_runtime::inspect::{Holder, HolderKind, HolderRef, LockState, Votes, Waiter};
use maud::{Markup, html};

use super::{badge, count, meaning, remaining, runs};
use crate::base::Base;
use crate::brief::Brief;
use crate::link::{self, Link};
use crate::plain::Plain;
use crate::routes::runs::Recorded;

/// Why a revocation did nothing, shown on the lock's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    /// Another holder has the lock.
    Changed,
    /// The lock is free.
    NotHeld,
}

impl Notice {
    /// For a lock that its holder no longer has, and that is held by another or free now.
    pub(crate) fn of(is_held: bool) -> Notice {
        if is_held {
            Notice::Changed
        } else {
            Notice::NotHeld
        }
    }

    fn text(self) -> &'static str {
        match self {
            Notice::Changed => "The lock has another holder by now, and nothing was done.",
            Notice::NotHeld => "The lock is free, and nothing was done.",
        }
    }
}

pub(crate) fn page(
    base: &Base,
    lock: &LockState,
    recorded: &Recorded,
    operator: Option<&str>,
    notice: Option<Notice>,
) -> Html<String> {
    let json = Link::new(base, "api/lock").with("key", lock.key.as_str());
    let audit = Link::new(base, "audit").with("key", lock.key.as_str());
    let content = html! {
        h1 { "Lock " span.key { (Plain(lock.key.as_str())) } }
        @if let Some(notice) = notice { p.notice role="alert" { (notice.text()) } }
        p {
            @if lock.is_held() { span.state.held { "held" } } @else { span.state.free { "free" } }
            @if let Some(votes) = lock.votes { " " (vote(votes, lock.is_held())) }
        }
        @if is_unknown(lock) && !recorded.has_runs() {
            p.empty {
                "This lock is unknown: nobody holds it or waits for it, and the server remembers no token for it. It is free, or its "
                "key is spelled differently."
            }
        }
        @for holder in &lock.holders { (one(holder)) }
        @if lock.more_holders > 0 { p { "and " (count(lock.more_holders, "more holder", "more holders")) } }
        (waiters(lock))
        @if let Some(token) = lock.last_token { p.note { "The last token was " (token) "." } }
        (runs::table(recorded))
        p.links {
            a href=(link::to_lock(base, lock.key.as_str())) { "Refresh" }
            a href=(audit) { "Audit of this lock" }
            a href=(json) { "JSON" }
        }
        @if let Some(operator) = operator { (revocations(base, lock, operator)) }
    };
    super::page(base, None, &Plain(lock.key.as_str()).to_string(), &content)
}

/// Returns whether the server has no trace of the lock. It remembers tokens only for a while, and none for Redisson's record.
fn is_unknown(lock: &LockState) -> bool {
    !lock.is_held() && lock.waiter_count() == 0 && lock.last_token.is_none()
}

fn vote(votes: Votes, is_held: bool) -> Markup {
    html! {
        (votes)
        @if votes.agreed > 0 && !is_held { ", and no caller has the lock without a majority" }
        "."
    }
}

fn one(holder: &Holder) -> Markup {
    html! {
        section.holder {
            h2 {
                @if holder.kind == HolderKind::Foreign && holder.label.is_empty() { "Another program" }
                @else if holder.label.is_empty() { "A holder without a label" } @else { (Plain(&holder.label)) }
                " " (badge(holder.kind, 1))
            }
            dl {
                @if let Some(age) = holder.age { div { dt { "Held for" } dd { (Brief(age)) } } }
                div { dt { "Lease left" } dd { (remaining(holder.remaining)) } }
                @if holder.permits != 1 { div { dt { "Permits" } dd { (holder.permits) } } }
                @if let Some(token) = holder.token { div { dt { "Token" } dd { (token) } } }
                @else if holder.kind == HolderKind::Exclusive { div { dt { "Token" } dd { "none" } } }
                @if let (None, Some(reference)) = (holder.token, holder.reference) {
                    div { dt { "Reference" } dd { (reference) } }
                }
            }
            @if let Some(meaning) = meaning(holder.kind) { p.note { (meaning) } }
            @if holder.remaining.is_none() && holder.kind != HolderKind::OtherType {
                p.note { "Its record never expires: a holder that died keeps it until it is deleted." }
            }
        }
    }
}

fn waiters(lock: &LockState) -> Markup {
    let waiting = lock.waiter_count();
    html! {
        @if waiting > 0 {
            h2 { (count(waiting, "client waits", "clients wait")) }
            table.cards {
                thead {
                    tr { th.number { "Place" } th { "Waiter" } th.number { "Waits for" } th.number { "Last heard" } }
                }
                tbody {
                    @for (place, waiter) in (1..).zip(&lock.waiters) { (row(place, waiter)) }
                }
            }
            @if lock.more_waiters > 0 { p { "and " (count(lock.more_waiters, "more", "more")) } }
        }
    }
}

fn row(place: usize, waiter: &Waiter) -> Markup {
    html! {
        tr {
            td.number data-name="Place" { (place) }
            td.label data-name="Waiter" { span { (Plain(&waiter.label)) } }
            td.number data-name="Waits for" { (Brief(waiter.waiting)) }
            td.number data-name="Last heard" { (Brief(waiter.last_seen)) " ago" }
        }
    }
}

/// A form for each holder that can be revoked. Holders of a shared lock have one token, and lose it together.
fn revocations(base: &Base, lock: &LockState, operator: &str) -> Markup {
    let mut references: Vec<(HolderRef, &Holder)> = Vec::new();
    for holder in &lock.holders {
        if let Some(reference) = holder.reference
            && references.iter().all(|(known, _)| *known != reference)
        {
            references.push((reference, holder));
        }
    }
    html! {
        @for (reference, holder) in references {
            @let action = Link::new(base, "revoke").with("key", lock.key.as_str()).with("reference", &reference.to_string());
            details.revoke {
                summary { "Take this lock from " (whom(lock, holder)) }
                p.warning {
                    "The old holder may write until it notices. Only a resource that checks tokens is safe from these writes."
                }
                form method="post" action=(action) {
                    label { "Reason, for the holder and the audit"
                        input type="text" name="reason" required maxlength="256" autocomplete="off"; }
                    label { span { "Type the key to confirm: " code { (Plain(lock.key.as_str())) } }
                        input type="text" name="confirm" required autocomplete="off" autocapitalize="none" spellcheck="false"; }
                    button.danger { "Revoke" }
                    " as " (Plain(operator))
                }
            }
        }
    }
}

fn whom(lock: &LockState, holder: &Holder) -> Markup {
    let sharing = lock.holder_count();
    html! {
        @if sharing > 1 { "all " (sharing) " holders" }
        @else if holder.label.is_empty() { "its holder" }
        @else { (Plain(&holder.label)) }
    }
}
