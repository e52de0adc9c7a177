//! Renders pages.

pub(crate) mod audit;
pub(crate) mod failure;
pub(crate) mod lock;
pub(crate) mod locks;
pub(crate) mod process;
pub(crate) mod revoked;
mod runs;

use std::time::Duration;

use axum::response::Html;
use lock_runtime::inspect::HolderKind;
use maud::{DOCTYPE, Markup, Render, html};

use crate::base::Base;
use crate::brief::Brief;
use crate::link::Link;

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("../style.css");

/// The parts of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Locks,
    Process,
    Audit,
}

impl Section {
    const ALL: [(Section, &str, &str); 3] = [
        (Section::Locks, "list", "Locks"),
        (Section::Process, "process", "This process"),
        (Section::Audit, "audit", "Audit"),
    ];
}

/// A whole page. The title is plain text.
fn page(base: &Base, section: Option<Section>, title: &str, content: &Markup) -> Html<String> {
    let style = Link::new(base, "style.css").with("v", env!("CARGO_PKG_VERSION"));
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { (title) }
                link rel="stylesheet" href=(style);
            }
            body {
                header {
                    nav aria-label="Pages" {
                        @for (each, path, name) in Section::ALL {
                            @let current = (section == Some(each)).then_some("page");
                            a href=(Link::new(base, path)) aria-current=[current] { (name) }
                        }
                    }
                }
                main { (content) }
            }
        }
    };
    Html(markup.into_string())
}

/// A link as an attribute's value.
impl Render for Link {
    fn render_to(&self, markup: &mut String) {
        maud::display(self).render_to(markup);
    }
}

/// A duration, or a dash.
fn brief(duration: Option<Duration>) -> Markup {
    match duration {
        Some(duration) => Brief(duration).render(),
        None => html! { span.none { "–" } },
    }
}

/// A number with its noun.
fn count(number: usize, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{number} {many}"),
    }
}

/// An RFC 3339 time, to the second.
fn time(at: &str) -> String {
    let seconds = at.get(..19).unwrap_or(at);
    format!("{} UTC", seconds.replace('T', " "))
}

/// The remaining time of a lease.
fn remaining(duration: Option<Duration>) -> Markup {
    match duration {
        Some(duration) => Brief(duration).render(),
        None => html! { span.bad { "never expires" } },
    }
}

/// A badge for an unusual kind of holder.
fn badge(kind: HolderKind, holders: usize) -> Markup {
    let class = match kind {
        HolderKind::Foreign | HolderKind::OtherType => "badge odd",
        _ => "badge",
    };
    html! {
        @match (kind, holders) {
            (HolderKind::Exclusive, _) => {},
            (_, 0 | 1) => span class=(class) { (kind) },
            (_, holders) => span class=(class) { (kind) " × " (holders) },
        }
    }
}

/// Explains a kind of holder, unless its record does.
fn meaning(kind: HolderKind) -> Option<&'static str> {
    match kind {
        HolderKind::Share => Some("It shares the lock with other readers, or has permits."),
        HolderKind::Reserved => {
            Some("Its holder is done, and the lock is reserved for its minimum hold.")
        }
        HolderKind::Redisson => Some("Redisson's record, which has no token."),
        HolderKind::Foreign => Some(
            "A record of another program, by SET NX PX for instance: it has no token, and callers wait until it is gone.",
        ),
        HolderKind::OtherType => Some(
            "The key has a type that no lock has: every call is refused until the key is deleted or renamed.",
        ),
        _ => None,
    }
}
