//! Runs the program itself with the least effort, and checks that each part works, that all figures
//! of the page are measured, and that the counts hold that do not depend on the machine. The
//! program fails if they do not.

use std::fs;
use std::process::Command;

const TEXT: &str = include_str!("../../../lock-runtime/src/docs/performance.md");
const PAGE: &str = "lock-runtime/src/docs/performance.md";
const PLOT: &str = "lock-runtime/src/docs/pictures/transfers.svg";
const MARK: &str = "<!-- figures -->\n";

/// The entries of the first column with their counts: numbers of locks and waiters depend on the
/// effort.
fn figures(text: &str) -> Vec<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    let names = rows.filter_map(|row| row.split(" | ").next());
    let letters = |name: &str| name.replace(|c: char| c.is_ascii_digit() || c == ' ', "");
    names
        .map(letters)
        .filter(|name| !name.starts_with('-'))
        .collect()
}

#[test]
fn the_page_has_the_figures_that_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name| folder.path().join(name);
    fs::create_dir_all(file("lock-runtime/src/docs/pictures")).unwrap();
    let empty = format!("# Figures\n{MARK}{MARK}More.\n");
    fs::write(file(PAGE), &empty).unwrap();
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
    assert_eq!(page, empty.replacen(MARK, &format!("{MARK}{printed}"), 1));
    assert_eq!(figures(&page), figures(TEXT));
    let plot = fs::read_to_string(file(PLOT)).unwrap();
    assert_eq!(plot.matches("class=\"curve").count(), 2 * 5, "{plot}");
}
