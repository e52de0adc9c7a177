//! The state of the live view: what is shown, and what keys do.

use lock_runtime::inspect::Seen;

use super::row::Row;

/// What the rows are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Key,
    Age,
    Waiters,
    Holder,
}

impl Column {
    fn next(self) -> Column {
        match self {
            Column::Key => Column::Age,
            Column::Age => Column::Waiters,
            Column::Waiters => Column::Holder,
            Column::Holder => Column::Key,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Column::Key => "key",
            Column::Age => "age, oldest first",
            Column::Waiters => "waiters, most first",
            Column::Holder => "holder",
        }
    }
}

/// A key on the keyboard, as far as it means anything here.
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

/// What the program has to do after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    None,
    Quit,
    /// Shows all that is known of a lock.
    Inspect(String),
    Revoke {
        key: String,
        seen: Seen,
        reason: String,
    },
}

/// What the lower part of the screen is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    List,
    /// The filter is being typed.
    Filter,
    /// A text is shown until a key is pressed.
    Text(String),
    /// The reason for a revocation is being typed.
    Reason {
        key: String,
        seen: Seen,
        reason: String,
    },
    /// The key of the lock that is to be revoked is being typed.
    Confirm {
        key: String,
        seen: Seen,
        reason: String,
        typed: String,
    },
}

/// The rows of a page, for the keys that scroll by one.
const PAGE: usize = 10;

/// The live view.
#[derive(Debug)]
pub(crate) struct View {
    rows: Vec<Row>,
    /// The rows that are shown, in order: places in `rows`.
    shown: Vec<usize>,
    sort: Column,
    filter: String,
    /// The key of the chosen row, which stays chosen when rows move.
    chosen: Option<String>,
    mode: Mode,
    /// The last message, such as an outcome.
    message: String,
    /// Why the locks are not those of now.
    failure: Option<String>,
}

impl View {
    pub(crate) fn new() -> View {
        View {
            rows: Vec::new(),
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

    /// The locks cannot be seen, for this reason.
    pub(crate) fn fail(&mut self, failure: String) {
        self.failure = Some(failure);
    }

    /// They can be seen again.
    pub(crate) fn recover(&mut self) {
        self.failure = None;
    }

    /// How many locks there are, shown or not.
    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn shown(&self) -> impl ExactSizeIterator<Item = &Row> {
        self.shown.iter().map(|place| &self.rows[*place])
    }

    /// The place of the chosen row among those that are shown.
    pub(crate) fn place(&self) -> Option<usize> {
        let chosen = self.chosen.as_deref()?;
        self.shown().position(|row| row.key == chosen)
    }

    /// The locks as they are now.
    pub(crate) fn set_rows(&mut self, rows: Vec<Row>) {
        let place = self.place();
        self.rows = rows;
        self.arrange();
        if self.place().is_none() {
            // The row below takes the place of one that is gone.
            self.choose(place.unwrap_or(0));
        }
    }

    /// Says something in the last line, until the next thing is said.
    pub(crate) fn say(&mut self, message: String) {
        self.message = message;
    }

    /// Shows a text over the list.
    pub(crate) fn show(&mut self, text: String) {
        self.mode = Mode::Text(text);
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
                Column::Age => other.age_ms.cmp(&one.age_ms),
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

    /// A key was pressed.
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
            // Any key closes it.
            Mode::Text(_) => Action::None,
            Mode::Reason {
                key,
                seen,
                mut reason,
            } => {
                match press {
                    Press::Escape => return Action::None,
                    Press::Enter if !reason.trim().is_empty() => {
                        let typed = String::new();
                        self.mode = Mode::Confirm {
                            key,
                            seen,
                            reason,
                            typed,
                        };
                        return Action::None;
                    }
                    press => edit(&mut reason, press),
                }
                self.mode = Mode::Reason { key, seen, reason };
                Action::None
            }
            Mode::Confirm {
                key,
                seen,
                reason,
                mut typed,
            } => {
                match press {
                    Press::Escape => return Action::None,
                    Press::Enter if typed == key => return Action::Revoke { key, seen, reason },
                    Press::Enter => {
                        self.message = "That is another key: nothing was done.".to_owned();
                        return Action::None;
                    }
                    press => edit(&mut typed, press),
                }
                self.mode = Mode::Confirm {
                    key,
                    seen,
                    reason,
                    typed,
                };
                Action::None
            }
        }
    }

    fn in_list(&mut self, press: Press) -> Action {
        let place = self.place().unwrap_or(0);
        match press {
            Press::Char('q') | Press::Escape => return Action::Quit,
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
            Press::Char('r') => self.begin_revocation(),
            _ => {}
        }
        Action::None
    }

    fn begin_revocation(&mut self) {
        let Some(row) = self.chosen_row() else { return };
        match row.seen {
            Some(seen) => {
                self.mode = Mode::Reason {
                    key: row.key.clone(),
                    seen,
                    reason: String::new(),
                }
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

/// A key in a line of text.
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
mod tests {
    use lock_runtime::FencingToken;

    use super::super::row::row;
    use super::*;

    fn view() -> View {
        let mut view = View::new();
        view.set_rows(vec![row("a", "y", 1), row("b", "x", 3), row("c", "x", 2)]);
        view
    }

    fn keys(view: &View) -> String {
        view.shown().map(|row| row.key.as_str()).collect()
    }

    fn chosen(view: &View) -> Option<&str> {
        view.chosen_row().map(|row| row.key.as_str())
    }

    fn type_in(view: &mut View, text: &str) {
        for letter in text.chars() {
            assert_eq!(view.press(Press::Char(letter)), Action::None);
        }
    }

    #[test]
    fn rows_are_sorted_by_each_column_in_turn() {
        let mut view = view();
        let mut orders = vec![keys(&view)];
        for _ in 0..3 {
            view.press(Press::Char('s'));
            orders.push(keys(&view));
        }
        assert_eq!(orders, ["abc", "bca", "abc", "bca"]);
    }

    #[test]
    fn filter_is_typed_and_escape_takes_it_away() {
        let mut view = view();
        type_in(&mut view, "/x");
        assert_eq!((keys(&view).as_str(), view.count()), ("bc", 3));
        view.press(Press::Enter);
        assert_eq!(view.mode(), &Mode::List);
        // A key that means something in the list is text here.
        type_in(&mut view, "/q");
        assert_eq!((view.filter(), chosen(&view)), ("xq", None));
        view.press(Press::Backspace);
        assert_eq!(chosen(&view), Some("b"));
        view.press(Press::Escape);
        assert_eq!(keys(&view), "abc");
    }

    #[test]
    fn chosen_row_stays_chosen_when_rows_move_and_passes_on_when_it_is_gone() {
        let mut view = view();
        view.press(Press::Down);
        assert_eq!(chosen(&view), Some("b"));
        view.set_rows(vec![row("0", "z", 9), row("b", "x", 3), row("c", "x", 2)]);
        assert_eq!((view.place(), chosen(&view)), (Some(1), Some("b")));
        view.set_rows(vec![row("0", "z", 9), row("c", "x", 2)]);
        assert_eq!(chosen(&view), Some("c"));
        view.press(Press::End);
        view.press(Press::PageUp);
        assert_eq!(chosen(&view), Some("0"));
        view.set_rows(Vec::new());
        assert_eq!(chosen(&view), None);
        assert_eq!(view.press(Press::Enter), Action::None);
    }

    #[test]
    fn revocation_asks_for_a_reason_and_for_the_key() {
        let mut view = view();
        view.press(Press::Char('r'));
        assert_eq!(view.message(), "This record cannot be revoked.");
        let seen = Seen::Token(FencingToken::try_from(16_u64).unwrap());
        let held = Row {
            seen: Some(seen),
            ..row("a", "y", 16)
        };
        view.set_rows(vec![held]);
        let begin = |view: &mut View| {
            view.press(Press::Char('r'));
            // Without a reason it does not go on.
            view.press(Press::Enter);
            type_in(view, "stuck");
            view.press(Press::Enter);
        };
        begin(&mut view);
        type_in(&mut view, "b");
        assert_eq!(view.press(Press::Enter), Action::None);
        assert!(view.message().contains("nothing was done"));
        begin(&mut view);
        type_in(&mut view, "a");
        let revoke = Action::Revoke {
            key: "a".to_owned(),
            seen,
            reason: "stuck".to_owned(),
        };
        assert_eq!(view.press(Press::Enter), revoke);
        begin(&mut view);
        assert_eq!(view.press(Press::Escape), Action::None);
        assert_eq!(view.mode(), &Mode::List);
        assert_eq!(view.press(Press::Interrupt), Action::Quit);
    }
}
