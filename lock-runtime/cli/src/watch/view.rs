//! The state of the live view, and the effect of keys on it.

use std::time::{Duration, Instant};

use lock_runtime::inspect::HolderRef;

use super::column::Column;
use super::inspected::Inspected;
use super::row::Row;
use super::update::Update;
use crate::output::escape;

/// A key that the view handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Press {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl-C.
    Interrupt,
}

/// The program's next step after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    None,
    Quit,
    /// Inspects a lock.
    Inspect(String),
    Revoke(Order),
}

/// A lock to revoke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) key: String,
    pub(crate) seen: HolderRef,
    /// Others may hold it by the same record.
    pub(crate) is_shared: bool,
    pub(crate) reason: String,
}

impl Order {
    /// Returns whether this is its key, verbatim or as a terminal shows it.
    fn is_named(&self, typed: &str) -> bool {
        typed == self.key || typed == escape(&self.key).to_string()
    }
}

/// The use of the lower part of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    List,
    /// The filter is being typed.
    Filter,
    /// A lock is shown until a key is pressed.
    Inspected(Inspected),
    /// The reason for a revocation is being typed.
    Reason(Order),
    /// The key of the lock to revoke is being typed.
    Confirm {
        order: Order,
        typed: String,
    },
}

/// The rows that page keys scroll by.
const PAGE: usize = 10;

/// How many locks that became free are read again before the next read of all.
const MOST_FREED: usize = 100;

/// The age of rows outside the screen that is shown.
const OLD: Duration = Duration::from_secs(2);

/// The live view.
#[derive(Debug)]
pub(crate) struct View {
    rows: Vec<Row>,
    /// When all locks were read.
    all_at: Option<Instant>,
    /// Keys of locks that were on the screen and became free since then, the oldest first.
    freed: Vec<String>,
    /// The rows that are shown, in order: places in `rows`.
    shown: Vec<usize>,
    sort: Column,
    filter: String,
    /// The key of the chosen row, which stays chosen when rows move.
    chosen: Option<String>,
    mode: Mode,
    /// The last message, such as an outcome.
    message: String,
    /// Why the rows are stale.
    failure: Option<String>,
}

impl View {
    pub(crate) fn new() -> View {
        View {
            rows: Vec::new(),
            all_at: None,
            freed: Vec::new(),
            shown: Vec::new(),
            sort: Column::Key,
            filter: String::new(),
            chosen: None,
            mode: Mode::List,
            message: String::new(),
            failure: None,
        }
    }

    pub(crate) fn mode(&self) -> &Mode {
        &self.mode
    }

    pub(crate) fn sort(&self) -> Column {
        self.sort
    }

    pub(crate) fn filter(&self) -> &str {
        &self.filter
    }

    pub(crate) fn message(&self) -> &str {
        self.failure.as_deref().unwrap_or(&self.message)
    }

    /// Notes why the locks cannot be read.
    pub(crate) fn fail(&mut self, failure: String) {
        self.failure = Some(failure);
    }

    /// The number of locks, shown or not.
    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn shown(&self) -> impl ExactSizeIterator<Item = &Row> {
        self.shown.iter().map(|place| &self.rows[*place])
    }

    /// The place of the chosen row among the shown rows.
    pub(crate) fn place(&self) -> Option<usize> {
        let chosen = self.chosen.as_deref()?;
        self.shown().position(|row| row.key == chosen)
    }

    /// The rows around the chosen row that fit on a screen of this height, with their places.
    pub(crate) fn on(&self, height: usize) -> impl Iterator<Item = (usize, &Row)> {
        let chosen = self.place();
        let first = chosen.map_or(0, |place| (place + 1).saturating_sub(height.div_ceil(2)));
        let first = first.min(self.shown.len().saturating_sub(height));
        self.shown().enumerate().skip(first).take(height)
    }

    /// The keys to read between two reads of all: rows on such a screen, and locks that became free there.
    pub(crate) fn keys_on(&self, height: usize) -> Vec<String> {
        let on_screen = self.on(height).map(|(_, row)| row.key.clone());
        on_screen.chain(self.freed.iter().cloned()).collect()
    }

    /// The age of rows outside the screen, if it is old enough to show.
    pub(crate) fn age_of_others(&self, now: Instant) -> Option<Duration> {
        let age = now.saturating_duration_since(self.all_at?);
        Some(age).filter(|age| *age >= OLD)
    }

    /// Takes in all locks as they are now, or some of them.
    pub(crate) fn see(&mut self, update: Update, now: Instant) {
        let place = self.place();
        match update {
            Update::All(rows) => {
                (self.rows, self.all_at, self.failure) = (rows, Some(now), None);
                self.freed.clear();
            }
            Update::Some { locks, failure } => {
                locks.into_iter().for_each(|(key, row)| self.put(key, row));
                self.failure = failure;
            }
        }
        self.arrange();
        if self.place().is_none() {
            // The row below replaces a row that is gone.
            self.choose(place.unwrap_or(0));
        }
    }

    fn put(&mut self, key: String, row: Option<Row>) {
        let place = self.rows.binary_search_by(|row| row.key.cmp(&key));
        match (place, row) {
            (Ok(place), Some(row)) => self.rows[place] = row,
            (Ok(place), None) => {
                self.rows.remove(place);
                // Somebody may take it at once, which only the next read of all would show.
                if self.freed.len() == MOST_FREED {
                    self.freed.remove(0);
                }
                self.freed.push(key);
            }
            (Err(place), Some(row)) => {
                self.freed.retain(|freed| *freed != key);
                self.rows.insert(place, row);
            }
            (Err(_), None) => {}
        }
    }

    /// Shows a message in the last line, until the next message.
    pub(crate) fn say(&mut self, message: String) {
        self.message = message;
    }

    /// Shows a lock over the list, unless the user has begun to type.
    pub(crate) fn show(&mut self, inspected: Inspected) {
        if matches!(self.mode, Mode::List | Mode::Inspected(_)) {
            self.mode = Mode::Inspected(inspected);
        }
    }

    fn arrange(&mut self) {
        let rows = &self.rows;
        let is_shown =
            |row: &Row| row.key.contains(&self.filter) || row.holder.contains(&self.filter);
        self.shown = (0..rows.len())
            .filter(|place| is_shown(&rows[*place]))
            .collect();
        let sort = self.sort;
        self.shown.sort_by(|one, other| {
            let (one, other) = (&rows[*one], &rows[*other]);
            let order = match sort {
                Column::Key => std::cmp::Ordering::Equal,
                Column::Age => {
                    let granted = |row: &Row| (row.granted().is_none(), row.granted());
                    granted(one).cmp(&granted(other))
                }
                Column::Waiters => other.waiters.cmp(&one.waiters),
                Column::Holder => one.holder.cmp(&other.holder),
            };
            order.then_with(|| one.key.cmp(&other.key))
        });
    }

    fn choose(&mut self, place: usize) {
        let last = self.shown.len().saturating_sub(1);
        let row = self
            .shown
            .get(place.min(last))
            .map(|place| &self.rows[*place]);
        self.chosen = row.map(|row| row.key.clone());
    }

    fn chosen_row(&self) -> Option<&Row> {
        self.shown().nth(self.place()?)
    }

    /// Handles a key.
    pub(crate) fn press(&mut self, press: Press) -> Action {
        if press == Press::Interrupt {
            return Action::Quit;
        }
        let mode = std::mem::replace(&mut self.mode, Mode::List);
        match mode {
            Mode::List => self.in_list(press),
            Mode::Filter => {
                self.in_filter(press);
                Action::None
            }
            // Any other key closes it. `r` revokes the holder that was shown, whoever has the lock by now.
            Mode::Inspected(Inspected { row, .. }) => {
                match (press, row) {
                    (Press::Char('r'), Some(row)) => self.begin_revocation(&row),
                    (Press::Char('r'), None) => {
                        self.message = "The lock is free: there is nothing to revoke.".to_owned();
                    }
                    _ => {}
                }
                Action::None
            }
            Mode::Reason(mut order) => {
                match press {
                    Press::Escape => return Action::None,
                    Press::Enter if !order.reason.trim().is_empty() => {
                        let typed = String::new();
                        self.mode = Mode::Confirm { order, typed };
                        return Action::None;
                    }
                    press => edit(&mut order.reason, press),
                }
                self.mode = Mode::Reason(order);
                Action::None
            }
            Mode::Confirm { order, mut typed } => {
                match press {
                    Press::Escape => return Action::None,
                    Press::Enter if order.is_named(&typed) => return Action::Revoke(order),
                    Press::Enter => {
                        self.message = "That is another key: nothing was done.".to_owned();
                        return Action::None;
                    }
                    press => edit(&mut typed, press),
                }
                self.mode = Mode::Confirm { order, typed };
                Action::None
            }
        }
    }

    fn in_list(&mut self, press: Press) -> Action {
        let place = self.place().unwrap_or(0);
        match press {
            Press::Char('q') => return Action::Quit,
            // Elsewhere it cancels typing, and an extra press must not end the view.
            Press::Escape if self.filter.is_empty() => {
                self.message = "q quits".to_owned();
            }
            Press::Escape => self.in_filter(press),
            Press::Char('s') => {
                self.sort = self.sort.next();
                self.arrange();
            }
            Press::Char('/') => self.mode = Mode::Filter,
            Press::Char('k') | Press::Up => self.choose(place.saturating_sub(1)),
            Press::Char('j') | Press::Down => self.choose(place + 1),
            Press::PageUp => self.choose(place.saturating_sub(PAGE)),
            Press::PageDown => self.choose(place + PAGE),
            Press::Home => self.choose(0),
            Press::End => self.choose(usize::MAX),
            Press::Enter => {
                if let Some(row) = self.chosen_row() {
                    return Action::Inspect(row.key.clone());
                }
            }
            Press::Char('r') => {
                if let Some(row) = self.chosen_row().cloned() {
                    self.begin_revocation(&row);
                }
            }
            _ => {}
        }
        Action::None
    }

    fn begin_revocation(&mut self, row: &Row) {
        match row.seen {
            Some(seen) => {
                self.mode = Mode::Reason(Order {
                    key: row.key.clone(),
                    seen,
                    is_shared: row.is_shared(),
                    reason: String::new(),
                });
            }
            None => self.message = "This record cannot be revoked.".to_owned(),
        }
    }

    fn in_filter(&mut self, press: Press) {
        match press {
            Press::Enter => {}
            Press::Escape => {
                self.filter.clear();
                self.arrange();
            }
            press => {
                self.mode = Mode::Filter;
                edit(&mut self.filter, press);
                self.arrange();
            }
        }
        if self.place().is_none() {
            self.choose(0);
        }
    }
}

/// Applies a key to a line of text.
fn edit(text: &mut String, press: Press) {
    match press {
        Press::Char(letter) => text.push(letter),
        Press::Backspace => {
            text.pop();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
