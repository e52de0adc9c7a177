//! The figures that the README shows.

use crate::findings::{Cell, Table, column};
use crate::parts::Part;
use crate::sheet::Sheet;

/// The README's rows, each with the part that measures it.
const ROWS: [(Part, &str); 6] = [
    (
        Part::Cycle,
        "uncontended cycle, p50 to the floor, current-thread runtime",
    ),
    (Part::Cycle, "uncontended cycle, commands"),
    (
        Part::Spread,
        "64 tasks, distinct keys, cycles to the floor's",
    ),
    (
        Part::Transfers,
        "transfers, 16 tasks of a process, to the ping-pong; local turns off / on",
    ),
    (
        Part::Handoff,
        "release to the waiter's confirmed grant, p50 to a PING",
    ),
    (
        Part::Retained,
        "hot key of one process, retained: cycle p50 in µs, current-thread runtime",
    ),
];

const COLUMNS: [&str; 4] = [column::GOAL, column::OURS, column::REACHED, column::FLOOR];

/// Whether these parts measure all that the README shows.
pub(crate) fn is_measured_by(parts: &[Part]) -> bool {
    ROWS.iter().all(|(part, _)| parts.contains(part))
}

/// The README's table.
///
/// # Panics
///
/// When a row of it was not measured.
pub(crate) fn table(cells: &[Cell]) -> Sheet {
    let shown = ROWS.iter().flat_map(|&(_, row)| {
        let is_shown = |cell: &&Cell| cell.row == row && COLUMNS.contains(&&*cell.column);
        let of_row: Vec<Cell> = cells.iter().filter(is_shown).cloned().collect();
        assert!(!of_row.is_empty(), "no part measures `{row}`");
        of_row
    });
    let shown: Vec<Cell> = shown.collect();
    Sheet::new(&shown, Table::Figures, "figure", &COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Findings, Goal, Value};
    use crate::marks::figures;

    const README: &str = include_str!("../../../README.md");
    const PAGE: &str = include_str!("../../../docs/performance.md");

    #[test]
    fn rows_come_in_the_order_of_the_readme_without_further_rows() {
        let mut findings = Findings::default();
        findings.figure("another", Value::new(Goal::AtMost(1.0), 1.0), 1);
        for (_, row) in ROWS.iter().rev() {
            findings.figure(row, Value::new(Goal::AtMost(1.0), 1.0), 1);
        }
        findings.put_beside(findings_of("another"));
        findings.put_beside(findings_of(ROWS[0].1));
        let markdown = table(&findings.cells).markdown();
        let names: Vec<&str> = rows(&markdown).map(|row| row[0]).collect();
        assert_eq!(names[0], "figure");
        assert_eq!(names[1..], ROWS.map(|(_, row)| row));
        assert!(!markdown.contains(column::UNPINNED), "{markdown}");
    }

    #[test]
    fn the_readme_shows_what_the_page_does() {
        let page: Vec<Vec<&str>> = rows(figures(PAGE).unwrap()).collect();
        let readme: Vec<Vec<&str>> = rows(figures(README).unwrap()).collect();
        let names: Vec<&str> = readme.iter().skip(1).map(|row| row[0]).collect();
        assert_eq!(names, ROWS.map(|(_, row)| row));
        for row in &readme {
            let on_the_page = page.iter().any(|other| other.starts_with(row));
            assert!(on_the_page, "the page has another {row:?}");
        }
    }

    #[test]
    fn the_page_explains_each_missed_goal() {
        let (_, reasons) = PAGE.split_once("## What is not reached").unwrap();
        let reasons = reasons.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_missed = |row: &Vec<&str>| row.len() > COLUMNS.len() && row[3].contains("no");
        let mut missed = rows(figures(PAGE).unwrap()).filter(is_missed);
        let unexplained = missed.find(|row| !reasons.contains(&format!("**{}**", row[0])));
        assert_eq!(unexplained, None);
    }

    fn findings_of(row: &str) -> Findings {
        let mut findings = Findings::default();
        findings.figure(row, Value::new(Goal::AtMost(1.0), 2.0), 1);
        findings
    }

    /// The fields of each row of the tables in Markdown, without the rules below their heads.
    fn rows(markdown: &str) -> impl Iterator<Item = Vec<&str>> {
        let rows = markdown.lines().filter_map(|line| line.strip_prefix("| "));
        let rows = rows.filter(|row| !row.starts_with('-'));
        rows.map(|row| {
            row.trim_end_matches(" |")
                .split('|')
                .map(str::trim)
                .collect()
        })
    }
}
