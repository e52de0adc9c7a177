//! `list`: lists the locks that are held.

use std::fmt;
use std::io::{self, IsTerminal};
use std::time::Duration;

use lock_runtime::inspect::{ListedLock, Rfc3339, Run};
use serde::Serialize;

use crate::args::{Connection, List};
use crate::connection::PAGE;
use crate::exit::{Exit, Failure};
use crate::output::{Brief, Form, escape, print, say};

/// A lock in one line.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Line<'a>(pub(crate) &'a ListedLock);

/// A lock in one line, and its last run.
#[derive(Debug, Serialize)]
struct LineWithRun<'a> {
    #[serde(flatten)]
    lock: Line<'a>,
    last_run: Option<Run>,
}

impl fmt::Display for LineWithRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.last_run.as_ref().map_or_else(
            || "-".to_owned(),
            |run| format!("{} {}", Rfc3339(run.began), run.outcome),
        );
        write!(f, "{last:<34} {}", self.lock)
    }
}

/// The heads of the columns of a [`Line`].
struct Heads;

impl fmt::Display for Heads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:<32} {:>16} {:>7} {:>9} {:>7} {:>7}  HOLDER",
            "KEY", "TOKEN", "AGE", "REMAINING", "WAITERS", "LONGEST"
        )
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ListedLock {
            key,
            holder,
            holder_count,
            waiter_count,
            longest_wait,
            ..
        } = self.0;
        let key = escape(key.as_str());
        let token = holder
            .token
            .map_or_else(|| "-".to_owned(), |token| token.to_string());
        let times = [holder.age, holder.remaining, *longest_wait];
        let [age, remaining, wait] = times.map(|time| Brief::of(time).to_string());
        write!(
            f,
            "{key:<32} {token:>16} {age:>7} {remaining:>9} {waiter_count:>7} {wait:>7}  "
        )?;
        match holder.label.as_str() {
            "" => write!(f, "({})", holder.kind)?,
            label => write!(f, "{}", escape(label))?,
        }
        match holder_count {
            0 | 1 => Ok(()),
            count => write!(f, " and {} more", count - 1),
        }
    }
}

pub(crate) async fn list(connection: &Connection, list: List, form: Form) -> Result<Exit, Failure> {
    let client = connection.connect(&connection.operator()).await?;
    let mut pages = client.locks().page_size(PAGE);
    if let Some(pattern) = &list.pattern {
        pages = pages.matching(pattern);
    }
    let mut left = list.limit.unwrap_or(usize::MAX);
    // Scripts count, sort and cut the lines: every line is a lock, as those of `ps --no-headers`, and `--help` names the columns.
    if form == Form::Text && io::stdout().is_terminal() {
        if list.runs {
            say(&format!("{:<34} {Heads}", "LAST RUN"))?;
        } else {
            say(&Heads)?;
        }
    }
    while left > 0
        && let Some(page) = pages.next_page().await?
    {
        let shown = page.iter().filter(|lock| list.shows(lock));
        for line in shown.map(Line).take(left) {
            if list.runs {
                let runs = client.runs(line.0.key.clone()).await?;
                let last_run = runs.into_iter().next();
                let lock = line;
                print(form, &LineWithRun { lock, last_run })?;
            } else {
                print(form, &line)?;
            }
            left -= 1;
        }
    }
    client.shutdown().await;
    Ok(Exit::DONE)
}

impl List {
    /// Returns whether the filters select a lock.
    fn shows(&self, lock: &ListedLock) -> bool {
        let ListedLock { holder, .. } = lock;
        let is_by = |text: &String| holder.label.contains(text);
        let is_held_for = |least: &Duration| holder.age.is_some_and(|age| age >= *least);
        self.holder.as_ref().is_none_or(is_by)
            && self.older.as_deref().is_none_or(is_held_for)
            && (!self.waiting || lock.waiter_count > 0)
    }
}
