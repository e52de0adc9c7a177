//! How the live view looks.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Cell, Clear, Paragraph, Row as TableRow, Table, Wrap};

use super::row::Row;
use super::view::{Mode, View};
use crate::output::{Brief, Plain};

const KEYS: &str = "↑↓ choose  enter inspect  r revoke  s sort  / filter  q quit";

/// Draws the view. Only rows that fit are made into text.
pub(crate) fn draw(frame: &mut Frame<'_>, view: &View, title: &str) {
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(1),
        Constraint::Length(1),
    ]);
    let [top, middle, message, bottom] = areas.areas(frame.area());
    frame.render_widget(Line::from(head(view, title)), top);
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

fn head(view: &View, title: &str) -> String {
    let (count, shown) = (view.count(), view.shown().len());
    let mut head = format!("{title}: {count} locks");
    if shown != count {
        head += &format!(", {shown} shown");
    }
    head + &format!(", by {}", view.sort().name())
}

fn prompt(view: &View) -> String {
    match view.mode() {
        Mode::List | Mode::Text(_) => match view.filter() {
            "" => KEYS.to_owned(),
            filter => format!("filter: {}   {KEYS}", Plain(filter)),
        },
        Mode::Filter => format!("filter: {}▏", Plain(view.filter())),
        Mode::Reason { key, reason, .. } => {
            format!("revoke `{}`, reason: {}▏", Plain(key), Plain(reason))
        }
        Mode::Confirm { key, typed, .. } => format!(
            "the holder may write until it notices; type `{}` to revoke: {}▏",
            Plain(key),
            Plain(typed)
        ),
    }
}

fn list(frame: &mut Frame<'_>, area: Rect, view: &View) {
    // A line is the head.
    let height = usize::from(area.height).saturating_sub(1);
    let chosen = view.place();
    let first = chosen.map_or(0, |place| (place + 1).saturating_sub(height.div_ceil(2)));
    let first = first.min(view.shown().len().saturating_sub(height));
    let rows = view.shown().enumerate().skip(first).take(height);
    let rows = rows.map(|(place, row)| {
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

    use super::super::row::row;
    use super::super::view::Press;
    use super::*;

    fn screen(view: &View) -> String {
        let mut terminal = Terminal::new(TestBackend::new(72, 8)).expect("it is in memory");
        let drawn = terminal.draw(|frame| draw(frame, view, "lock:*"));
        drawn.expect("it is in memory");
        terminal.backend().to_string()
    }

    #[test]
    fn rows_that_fit_are_shown_around_the_chosen_one() {
        let mut view = View::new();
        let rows = (0..100).map(|number| row(&format!("order:{number:02}"), "api-7", number));
        view.set_rows(rows.collect());
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
        view.set_rows(vec![row("a\u{1b}[2J", "x\ny", 1)]);
        let shown = screen(&view);
        assert!(
            shown.contains("a\\u{1b}[2J") && shown.contains("x\\u{a}y"),
            "{shown}"
        );
    }

    #[test]
    fn what_is_typed_is_shown() {
        let mut view = View::new();
        view.set_rows(vec![row("order:42", "api-7", 1)]);
        for letter in "/api".chars() {
            view.press(Press::Char(letter));
        }
        assert!(screen(&view).contains("filter: api"));
        view.press(Press::Enter);
        view.show("lock `order:42` is held".to_owned());
        let shown = screen(&view);
        assert!(shown.contains("lock `order:42` is held"), "{shown}");
    }
}
