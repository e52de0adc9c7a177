//! Draws the live view.

use std::time::Instant;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row as TableRow, Table};

use super::row::Row;
use super::text::{cut, folded};
use super::view::{Mode, Order, View};
use crate::output::{Brief, escape};

const KEYS: &str = "↑↓ choose  enter inspect  r revoke  s sort  / filter  q quit";

/// Draws the view. Formats only rows that fit.
pub(crate) fn draw(frame: &mut Frame<'_>, view: &View, title: &str, now: Instant) {
    let (width, height) = (frame.area().width.into(), frame.area().height.into());
    let message = last_lines(&escape(view.message()).to_string(), width, height);
    let prompt = last_lines(&prompt(view), width, height);
    let lines = |lines: &[Line<'_>]| Constraint::Length(lines.len().try_into().unwrap_or(1));
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        lines(&message),
        lines(&prompt),
    ]);
    let [top, middle, below, bottom] = areas.areas(frame.area());
    frame.render_widget(Line::from(cut(&head(view, title, now), width)), top);
    list(frame, middle, view);
    frame.render_widget(Paragraph::new(message), below);
    frame.render_widget(Paragraph::new(prompt), bottom);
    if let Mode::Inspected(inspected) = view.mode() {
        let block = Block::bordered().title("r revokes, any other key closes this");
        let inside = block.inner(middle);
        let text = first_lines(&inspected.text, inside.width.into(), inside.height.into());
        frame.render_widget(Clear, middle);
        frame.render_widget(Paragraph::new(text).block(block), middle);
    }
}

/// A text in as many lines as it needs. Beyond a third of the screen, only the last lines, where the user types.
fn last_lines(text: &str, width: usize, height: usize) -> Vec<Line<'static>> {
    let mut lines = folded(text, width);
    let more = lines.len().saturating_sub((height / 3).max(1));
    lines.drain(..more);
    lines.into_iter().map(Line::from).collect()
}

/// A text in the available lines. If it does not fit, the last line counts the hidden ones.
fn first_lines(text: &str, width: usize, height: usize) -> Vec<Line<'static>> {
    let mut lines = folded(text, width);
    if lines.len() > height {
        let more = lines.len() + 1 - height;
        lines.truncate(height.saturating_sub(1));
        lines.push(cut(
            &format!("… {more} more lines: `lockctl inspect` shows all"),
            width,
        ));
    }
    lines.into_iter().map(Line::from).collect()
}

/// How many rows a screen of this size has.
pub(crate) fn rows_on(screen: Rect) -> usize {
    // The others are the first line, the head of the table and the last two.
    usize::from(screen.height).saturating_sub(4)
}

fn head(view: &View, title: &str, now: Instant) -> String {
    let (count, shown) = (view.count(), view.shown().len());
    let mut head = format!("{title}: {count} locks");
    if shown != count {
        head += &format!(", {shown} shown");
    }
    head += &format!(", by {}", view.sort().name());
    // The rows on the screen are newer.
    if let Some(age) = view.age_of_others(now) {
        head += &format!(", all read {}s ago", age.as_secs());
    }
    head
}

fn prompt(view: &View) -> String {
    match view.mode() {
        Mode::List | Mode::Inspected(_) => match view.filter() {
            "" => KEYS.to_owned(),
            filter => format!("filter: {}   {KEYS}", escape(filter)),
        },
        Mode::Filter => format!("filter: {}▏", escape(view.filter())),
        Mode::Reason(Order { key, reason, .. }) => {
            format!("revoke `{}`, reason: {}▏", escape(key), escape(reason))
        }
        Mode::Confirm { order, typed } => {
            let who = if order.is_shared {
                "all holders lose it, and may write until they notice"
            } else {
                "the holder may write until it notices"
            };
            let (key, typed) = (escape(&order.key), escape(typed));
            format!("{who}; type `{key}` to revoke: {typed}▏")
        }
    }
}

fn list(frame: &mut Frame<'_>, area: Rect, view: &View) {
    // One line is the head.
    let height = usize::from(area.height).saturating_sub(1);
    let chosen = view.place();
    let widths = [
        Constraint::Fill(3),
        Constraint::Length(7),
        Constraint::Length(9),
        Constraint::Length(7),
        Constraint::Fill(4),
    ];
    // The table's widths. The table would cut a long text without showing it.
    let [keys, .., holders] = Layout::horizontal(widths).spacing(1).areas::<5>(area);
    let rows = view.on(height).map(|(place, row)| {
        let cells = cells(row, keys.width.into(), holders.width.into());
        if Some(place) != chosen {
            return cells;
        }
        cells.style(Style::new().add_modifier(Modifier::REVERSED))
    });
    let head = TableRow::new(["KEY", "AGE", "REMAINING", "WAITERS", "HOLDER"])
        .style(Style::new().add_modifier(Modifier::BOLD));
    let table = Table::new(rows, widths).column_spacing(1).header(head);
    frame.render_widget(table, area);
}

/// A row with these widths for its key and its holder.
fn cells(row: &Row, key: usize, holder: usize) -> TableRow<'static> {
    TableRow::new([
        Cell::new(cut(&escape(&row.key).to_string(), key)),
        Cell::new(Brief(row.age_ms).to_string()),
        Cell::new(Brief(row.remaining_ms).to_string()),
        Cell::new(row.waiters.to_string()),
        Cell::new(cut(&escape(&row.holder).to_string(), holder)),
    ])
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use std::time::Duration;

    use lock_runtime::FencingToken;
    use lock_runtime::inspect::{HolderKind, HolderRef};

    use super::super::inspected::Inspected;
    use super::super::row::row;
    use super::super::update::Update;
    use super::super::view::Press;
    use super::*;

    fn screen(view: &View) -> String {
        screen_at(view, Instant::now())
    }

    fn screen_at(view: &View, now: Instant) -> String {
        let mut terminal = Terminal::new(TestBackend::new(100, 8)).expect("it is in memory");
        let drawn = terminal.draw(|frame| draw(frame, view, "lock:*", now));
        drawn.expect("it is in memory");
        terminal.backend().to_string()
    }

    #[test]
    fn rows_that_fit_are_shown_around_the_chosen_row() {
        let mut view = View::new();
        let rows = (0..100).map(|number| row(&format!("order:{number:02}"), "api-7", number));
        view.see(Update::All(rows.collect()), Instant::now());
        let shown = screen(&view);
        assert!(shown.contains("lock:*: 100 locks, by key"), "{shown}");
        assert!(
            shown.contains("order:00") && !shown.contains("order:09"),
            "{shown}"
        );
        for _ in 0..50 {
            view.press(Press::Down);
        }
        let shown = screen(&view);
        assert!(
            shown.contains("order:50") && !shown.contains("order:00"),
            "{shown}"
        );
        view.press(Press::End);
        assert!(screen(&view).contains("order:99"));
    }

    #[test]
    fn names_cannot_change_the_screen() {
        let mut view = View::new();
        view.see(
            Update::All(vec![row("a\u{1b}[2J", "x\ny", 1)]),
            Instant::now(),
        );
        let shown = screen(&view);
        assert!(
            shown.contains("a\\u{1b}[2J") && shown.contains("x\\u{a}y"),
            "{shown}"
        );
    }

    #[test]
    fn typed_text_is_shown() {
        let mut view = View::new();
        view.see(
            Update::All(vec![row("order:42", "api-7", 1)]),
            Instant::now(),
        );
        for letter in "/api".chars() {
            view.press(Press::Char(letter));
        }
        assert!(screen(&view).contains("filter: api"));
        view.press(Press::Enter);
        let show = |view: &mut View, text: &str| {
            view.show(Inspected {
                text: text.to_owned(),
                row: None,
            });
            screen(view)
        };
        let shown = show(&mut view, "lock `order:42` is held");
        assert!(shown.contains("lock `order:42` is held"), "{shown}");
        let shown = show(&mut view, "1\n2\n3\n4\n5");
        assert!(shown.contains("… 3 more lines"), "{shown}");
    }

    #[test]
    fn cell_that_is_too_long_ends_with_an_ellipsis() {
        let (key, holder) = ("k".repeat(70), "h".repeat(70));
        let mut view = View::new();
        let seen = Some(HolderRef::Token(FencingToken::try_from(16_u64).unwrap()));
        let held = Row {
            seen,
            ..row(&key, &holder, 16)
        };
        view.see(Update::All(vec![held]), Instant::now());
        let shown = screen(&view);
        assert!(shown.contains("k… ") && shown.contains("h…"), "{shown}");
        // Text that is typed after it is on the screen.
        for letter in "rstuck".chars() {
            view.press(Press::Char(letter));
        }
        let shown = screen(&view);
        assert!(shown.contains("reason: stuck▏"), "{shown}");
        view.press(Press::Enter);
        for letter in "typed".chars() {
            view.press(Press::Char(letter));
        }
        let shown = screen(&view);
        assert!(shown.contains("typed▏"), "{shown}");
        view.press(Press::Escape);
        view.fail(format!("{} and why", "é".repeat(120)));
        let shown = screen(&view);
        assert_eq!(shown.matches('é').count(), 120, "{shown}");
        assert!(shown.contains("and why"), "{shown}");
    }

    #[test]
    fn age_of_old_rows_is_shown() {
        let (mut view, began) = (View::new(), Instant::now());
        view.see(Update::All(vec![row("order:42", "api-7", 1)]), began);
        assert!(!screen_at(&view, began).contains("ago"));
        let shown = screen_at(&view, began + Duration::from_secs(9));
        assert!(shown.contains("by key, all read 9s ago"), "{shown}");
    }

    #[test]
    fn revocation_of_a_shared_lock_warns_that_all_lose_it() {
        for (kind, words) in [
            (
                HolderKind::Exclusive,
                "the holder may write until it notices; type `a`",
            ),
            (
                HolderKind::Share,
                "all holders lose it, and may write until they notice; type `a`",
            ),
        ] {
            let mut view = View::new();
            let seen = Some(HolderRef::Token(FencingToken::try_from(16_u64).unwrap()));
            let held = Row {
                seen,
                kind,
                ..row("a", "api-7", 16)
            };
            view.see(Update::All(vec![held]), Instant::now());
            for press in [Press::Char('r'), Press::Char('x'), Press::Enter] {
                view.press(press);
            }
            let shown = screen(&view);
            assert!(shown.contains(words), "{shown}");
        }
    }
}
