//! The texts that have figures: the page with all of them, and the README with six.

use crate::findings::{HEAD, Row};

/// The README's rows.
const README: [&str; 6] = [
    "uncontended cycle, p50 to the floor; without / with a token",
    "uncontended cycle, commands",
    "64 tasks, distinct keys, cycles to the floor's; attribute / guard / guard with a token",
    "transfers, 16 tasks of a process, to the ping-pong; local turns off / on",
    "release to the waiter's confirmed grant, p50 to a PING",
    "hot key of one process, retained: cycle p50 in µs, current-thread runtime",
];

/// The columns that the README has of them; the last one is that of the peers.
const COLUMNS: usize = HEAD.len() - 1;

/// The marks before and after the figures.
const MARK: &str = "<!-- figures -->\n";

/// The text with other figures; `None` if it has no place for them.
pub(crate) fn with_figures(text: &str, figures: &str) -> Option<String> {
    let [before, _, after] = parts(text)?;
    Some(format!("{before}{MARK}{figures}{MARK}{after}"))
}

fn parts(text: &str) -> Option<[&str; 3]> {
    let (before, rest) = text.split_once(MARK)?;
    let (figures, after) = rest.split_once(MARK)?;
    Some([before, figures, after])
}

/// The README's table.
///
/// # Panics
///
/// When a row of it was not measured.
pub(crate) fn readme(measured: &[Row]) -> Vec<Vec<String>> {
    let rows = README.map(|name| {
        let row = measured.iter().find(|row| row.fields[0] == name);
        let row = row.unwrap_or_else(|| panic!("no part measures `{name}`"));
        row.fields[..COLUMNS].to_vec()
    });
    let head = HEAD[..COLUMNS].iter().map(ToString::to_string);
    [head.collect()].into_iter().chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("../../../README.md");
    const PAGE: &str = include_str!("../../../docs/performance.md");

    /// The fields of each row of the figures in a text, without heads and headings.
    fn rows(text: &str) -> Vec<Vec<&str>> {
        let [_, figures, _] = parts(text).unwrap();
        let rows = figures.lines().filter_map(|line| line.strip_prefix("| "));
        let rows = rows.map(|row| row.trim_end_matches(" |").split(" | ").map(str::trim));
        let is_figure = |row: &Vec<&str>| row[1].starts_with(['≤', '≥']);
        rows.map(Iterator::collect).filter(is_figure).collect()
    }

    #[test]
    fn text_between_the_marks_is_replaced_and_no_other() {
        let text = "# Figures\n<!-- figures -->\nold\n\nolder\n<!-- figures -->\nprose\n";
        let new = text.replace("old\n\nolder", "new");
        assert_eq!(with_figures(text, "new\n"), Some(new));
        assert_eq!(with_figures("<!-- figures -->\nold\n", "new\n"), None);
    }

    #[test]
    fn the_readme_shows_six_rows_of_the_page() {
        let (page, readme) = (rows(PAGE), rows(TEXT));
        let names: Vec<&str> = readme.iter().map(|row| row[0]).collect();
        assert_eq!(names, README);
        for row in &readme {
            assert!(page.iter().any(|other| other.starts_with(row)), "{row:?}");
        }
    }

    #[test]
    fn the_page_explains_each_missed_goal_and_no_other() {
        let (_, reasons) = PAGE.split_once("## What is not reached").unwrap();
        let reasons = reasons.split_whitespace().collect::<Vec<_>>().join(" ");
        let explained: Vec<&str> = reasons.split("**").skip(1).step_by(2).collect();
        for row in rows(PAGE) {
            let is_missed = row[3].contains("no");
            assert_eq!(explained.contains(&row[0]), is_missed, "{}", row[0]);
        }
    }
}
