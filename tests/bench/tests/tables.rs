//! The figures of the page: all are measured, and each missed goal is explained.

use std::fs;
use std::process::Command;

const TEXT: &str = include_str!("../../../lock-runtime/src/docs/performance.md");
const PAGE: &str = "lock-runtime/src/docs/performance.md";
const PLOT: &str = "lock-runtime/src/docs/pictures/transfers.svg";
const MARK: &str = "<!-- figures -->\n";

/// The fields of each row of the figures, with the head and the headings.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let figures = text.split(MARK).nth(1).expect("they are between two marks");
    let rows = figures.lines().filter_map(|line| line.strip_prefix("| "));
    let rows = rows.filter(|row| !row.starts_with('-'));
    rows.map(|row| {
        row.trim_end_matches(" |")
            .split(" | ")
            .map(str::trim)
            .collect()
    })
    .collect()
}

/// Runs the program itself with the least effort. It fails if a part does not work, or if a count is wrong that is the
/// same on every machine.
#[test]
fn the_page_has_the_figures_that_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name| folder.path().join(name);
    fs::create_dir_all(file("lock-runtime/src/docs/pictures")).unwrap();
    let before = format!("# Figures\n{MARK}old\n\nolder\n{MARK}More.\n");
    fs::write(file(PAGE), &before).unwrap();
    let mut bench = Command::new(env!("CARGO_BIN_EXE_lock-bench"));
    let output = bench
        .args(["--quick", "--write"])
        .arg(folder.path())
        .output();
    let output = output.unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");

    let printed = String::from_utf8(output.stdout).unwrap();
    let page = fs::read_to_string(file(PAGE)).unwrap();
    assert_eq!(page, before.replace("old\n\nolder\n", &printed));
    // Numbers of locks and waiters depend on the effort.
    let letters = |row: &Vec<&str>| row[0].replace(|c: char| c.is_ascii_digit() || c == ' ', "");
    let figures = |text| rows(text).iter().map(letters).collect::<Vec<_>>();
    assert_eq!(figures(&page), figures(TEXT));
    let plot = fs::read_to_string(file(PLOT)).unwrap();
    assert_eq!(plot.matches("class=\"curve").count(), 2 * 5, "{plot}");
}

#[test]
fn the_page_explains_each_missed_goal_and_no_other() {
    let (_, reasons) = TEXT.split_once("# What is not reached").unwrap();
    let reasons = reasons.split_whitespace().collect::<Vec<_>>().join(" ");
    let explained: Vec<&str> = reasons.split("**").skip(1).step_by(2).collect();
    let is_figure = |row: &Vec<&str>| row[1].starts_with(['≤', '≥']);
    for row in rows(TEXT).into_iter().filter(is_figure) {
        let is_missed = row[3].contains("no");
        assert_eq!(explained.contains(&row[0]), is_missed, "{}", row[0]);
    }
}
