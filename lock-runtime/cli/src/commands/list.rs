//! `list`: lists the locks that are held.

use std::fmt;
use std::io::{self, IsTerminal};

use lock_runtime::inspect::LockState;
use serde::Serialize;

use crate::args::{Connection, List};
use crate::connection::PAGE;
use crate::exit::{Exit, Failure};
use crate::output::{Brief, Form, Plain, millis, print, say};

/// A lock in one line.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'a> {
    key: &'a str,
    /// The first holder.
    holder: &'a str,
    kind: &'static str,
    /// The number of holders.
    holders: usize,
    token: Option<u64>,
    age_ms: Option<u64>,
    remaining_ms: Option<u64>,
    /// The number of waiting clients.
    waiters: usize,
}

impl Line<'_> {
    /// The line of a held lock; `None` for a free lock.
    pub(crate) fn of(lock: &LockState) -> Option<Line<'_>> {
        let first = lock.holders.first()?;
        Some(Line {
            key: lock.key.as_str(),
            holder: &first.label,
            kind: first.kind.as_str(),
            holders: lock.holders.len() + lock.more_holders,
            token: first.token.map(|token| token.get()),
            age_ms: first.age.map(millis),
            remaining_ms: first.remaining.map(millis),
            waiters: lock.waiting(),
        })
    }
}

/// The heads of the columns of a [`Line`].
struct Heads;

impl fmt::Display for Heads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<32} {:>16} {:>7} {:>9} {:>7}  HOLDER",
            "KEY", "TOKEN", "AGE", "REMAINING", "WAITERS"
        )
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = Plain(self.key).to_string();
        let token = self
            .token
            .map_or_else(|| "-".to_owned(), |token| token.to_string());
        let (age, remaining) = (Brief(self.age_ms), Brief(self.remaining_ms));
        let (age, remaining) = (age.to_string(), remaining.to_string());
        let waiters = self.waiters;
        write!(
            f,
            "{key:<32} {token:>16} {age:>7} {remaining:>9} {waiters:>7}  "
        )?;
        match (self.holder, self.kind) {
            ("", kind) => write!(f, "({kind})")?,
            (holder, _) => write!(f, "{}", Plain(holder))?,
        }
        match self.holders {
            0 | 1 => Ok(()),
            holders => write!(f, " and {} more", holders - 1),
        }
    }
}

pub(crate) async fn list(connection: &Connection, list: List, form: Form) -> Result<Exit, Failure> {
    let client = connection.connect(&connection.operator()).await?;
    let mut pages = client.locks().page(PAGE);
    if let Some(pattern) = &list.pattern {
        pages = pages.matching(pattern);
    }
    let mut left = list.limit.unwrap_or(usize::MAX);
    if form == Form::Text && io::stdout().is_terminal() {
        say(&Heads)?;
    }
    while left > 0
        && let Some(page) = pages.next().await?
    {
        let shown = page.iter().filter(|lock| list.shows(lock));
        for line in shown.filter_map(Line::of).take(left) {
            print(form, &line)?;
            left -= 1;
        }
    }
    client.shutdown().await;
    Ok(Exit::DONE)
}

impl List {
    /// Returns whether the filters select a lock.
    fn shows(&self, lock: &LockState) -> bool {
        let mut holders = lock.holders.iter();
        let is_by = self.holder.as_ref().is_none_or(|text| {
            lock.holders
                .iter()
                .any(|holder| holder.label.contains(text))
        });
        let is_older = self
            .older
            .is_none_or(|least| holders.any(|holder| holder.age.is_some_and(|age| age >= *least)));
        is_by && is_older && (!self.waiting || lock.waiting() > 0)
    }
}
