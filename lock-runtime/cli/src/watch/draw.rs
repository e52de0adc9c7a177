//! How the live view looks.

use std::time::Instant;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row as TableRow, Table, Wrap};

use super::row::Row;
use super::view::{Mode, Order, View};
use crate::output::{Brief, Plain};

const KEYS: &str = "↑↓ choose  enter inspect  r revoke  s sort  / filter  q quit";

/// Draws the view. Only rows that fit are made into text.
pub(crate) fn draw(frame: &mut Frame<'_>, view: &View, title: &str, now: Instant) {
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(1),
        Constraint::Length(1),
    ]);
    let [top, middle, message, bottom] = areas.areas(frame.area());
    frame.render_widget(Line::from(head(view, title, now)), top);
    list(frame, middle, view);
    frame.render_widget(Line::from(Plain(view.message()).to_string()), message);
    frame.render_widget(Line::from(prompt(view)), bottom);
    if let Mode::Text(text) = view.mode() {
        let block = Block::bordered().title("any key closes this");
        // Lines are made by this program; what is in them was escaped.
        let text = Paragraph::new(text.as_str())
            .block(block)
            .wrap(Wrap { trim: false });
        frame.render_widget(Clear, middle);
        frame.render_widget(text, middle);
    }
}

/// How many rows a screen of this size has.
pub(crate) fn rows_on(screen: Rect) -> usize {
    // Beside them are the first line, the head of the table and the last two.
    usize::from(screen.height).saturating_sub(4)
}

fn head(view: &View, title: &str, now: Instant) -> String {
    let (count, shown) = (view.count(), view.shown().len());
    let mut head = format!("{title}: {count} locks");
    if shown != count {
        head += &format!(", {shown} shown");
    }
    head += &format!(", by {}", view.sort().name());
    // Those on the screen are newer.
    if let Some(age) = view.age_of_others(now) {
        head += &format!(", all looked at {}s ago", age.as_secs());
    }
    head
}

fn prompt(view: &View) -> String {
    match view.mode() {
        Mode::List | Mode::Text(_) => match view.filter() {
            "" => KEYS.to_owned(),
            filter => format!("filter: {}   {KEYS}", Plain(filter)),
        },
        Mode::Filter => format!("filter: {}▏", Plain(view.filter())),
        Mode::Reason(Order { key, reason, .. }) => {
            format!("revoke `{}`, reason: {}▏", Plain(key), Plain(reason))
        }
        Mode::Confirm { order, typed } => {
            let who = match order.is_shared {
                true => "all who share it lose it, and may write until they notice",
                false => "the holder may write until it notices",
            };
            let (key, typed) = (Plain(&order.key), Plain(typed));
            format!("{who}; type `{key}` to revoke: {typed}▏")
        }
    }
}

fn list(frame: &mut Frame<'_>, area: Rect, view: &View) {
    // A line is the head.
    let height = usize::from(area.height).saturating_sub(1);
    let chosen = view.place();
    let rows = view.on(height).map(|(place, row)| {
        let style = match Some(place) == chosen {
            true => Style::new().add_modifier(Modifier::REVERSED),
            false => Style::new(),
        };
        cells(row).style(style)
    });
    let widths = [
        Constraint::Fill(3),
        Constraint::Length(7),
        Constraint::Length(9),
        Constraint::Length(7),
        Constraint::Fill(4),
    ];
    let head = TableRow::new(["KEY", "AGE", "REMAINING", "WAITERS", "HOLDER"])
        .style(Style::new().add_modifier(Modifier::BOLD));
    frame.render_widget(Table::new(rows, widths).header(head), area);
}

fn cells(row: &Row) -> TableRow<'static> {
    TableRow::new([
        Cell::new(Plain(&row.key).to_string()),
        Cell::new(Brief(row.age_ms).to_string()),
        Cell::new(Brief(row.remaining_ms).to_string()),
        Cell::new(row.waiters.to_string()),
        Cell::new(Plain(&row.holder).to_string()),
    ])
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use std::time::Duration;

    use lock_runtime::FencingToken;
    use lock_runtime::inspect::{HolderKind, Seen};

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
    fn rows_that_fit_are_shown_around_the_chosen_one() {
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
    fn what_is_typed_is_shown() {
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
        view.show("lock `order:42` is held".to_owned());
        let shown = screen(&view);
        assert!(shown.contains("lock `order:42` is held"), "{shown}");
    }

    #[test]
    fn rows_that_are_old_are_told_from_those_on_the_screen() {
        let (mut view, began) = (View::new(), Instant::now());
        view.see(Update::All(vec![row("order:42", "api-7", 1)]), began);
        assert!(!screen_at(&view, began).contains("ago"));
        let shown = screen_at(&view, began + Duration::from_secs(9));
        assert!(shown.contains("by key, all looked at 9s ago"), "{shown}");
    }

    #[test]
    fn sharers_of_a_lock_are_told_of() {
        for (kind, words) in [
            (
                HolderKind::Ours,
                "the holder may write until it notices; type `a`",
            ),
            (
                HolderKind::Share,
                "all who share it lose it, and may write until they notice; type `a`",
            ),
        ] {
            let mut view = View::new();
            let seen = Some(Seen::Token(FencingToken::try_from(16_u64).unwrap()));
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
