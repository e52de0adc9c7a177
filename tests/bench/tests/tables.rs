//! The program itself, with the least effort: whether it measures the named figures, and whether the
//! counts hold that do not depend on the machine. The program fails if they do not.

use std::fs;
use std::process::Command;

use harness::{RedisServer, release_command};

/// Parts with processes, a network and waiters, and those of the README. The other parts take longer
/// and use the same code.
const PARTS: [&str; 12] = [
    "cycle",
    "callers",
    "network",
    "server",
    "retained",
    "spread",
    "transfers",
    "processes",
    "curve",
    "handoff",
    "crash",
    "crowd",
];

const TEXT: &str = "# A lock\n<!-- figures -->\nold\n<!-- figures -->\nMore.\n";

#[test]
fn measured_figures_are_in_the_tables() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name| folder.path().join(name);
    for name in ["README.md", "performance.md"] {
        fs::write(file(name), TEXT).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_lock-bench"))
        .args(PARTS)
        .arg("--quick")
        .arg("--markdown")
        .arg(file("tables.md"))
        .arg("--svg")
        .arg(file("plot.svg"))
        .arg("--page")
        .arg(file("performance.md"))
        .arg("--readme")
        .arg(file("README.md"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");

    let markdown = fs::read_to_string(file("tables.md")).unwrap();
    let row = |begin: &str| {
        let begin = format!("| {begin}");
        let row = markdown.lines().find(|line| line.starts_with(&begin));
        let row = row.unwrap_or_else(|| panic!("no {begin} in {markdown}"));
        row.split('|').map(str::trim).skip(1).collect::<Vec<_>>()
    };
    // Figure, goal, own value, reached, floor: counts are the same on every machine.
    let release = release_command(&mut RedisServer::start().connection());
    let ours = format!("2 (EVALSHA, {release})");
    assert_eq!(
        row("uncontended cycle, commands")[1..5],
        ["≤ 2", &*ours, "yes", "2 (SET, EVALSHA)"]
    );
    let native =
        row("uncontended cycle, the server's CPU to the floor's, released by DELIFEQ or DELEX");
    assert_eq!(native[3] == "–", release == "EVALSHA", "{native:?}");
    assert_eq!(row("of the 100 waiters, left asleep")[2], "0");
    assert_eq!(
        row("bodies that overlapped and tokens that did not rise, 4 processes × 8 tasks")[2],
        "0 / 0"
    );
    for (figure, goal) in [
        (
            "uncontended cycle, p50 to the floor, 0.5 ms a round trip away, release not awaited",
            "≤ 0.53",
        ),
        ("transfers, 4 processes × 8 tasks", "≥ 0.25 / ≥ 3"),
    ] {
        assert_eq!(row(figure)[1], goal);
        assert!(
            row(figure)[2].starts_with(|c: char| c.is_ascii_digit()),
            "{:?}",
            row(figure)
        );
    }
    for contestant in [
        "floor: ",
        "lock-runtime,",
        "lock-runtime ",
        "rslock ",
        "rslock, tuned",
    ] {
        assert!(row(contestant).len() > 4, "{:?}", row(contestant));
    }

    let page = fs::read_to_string(file("performance.md")).unwrap();
    assert_eq!(page, TEXT.replace("old\n", &markdown));
    let readme = fs::read_to_string(file("README.md")).unwrap();
    let figures: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| "))
        .collect();
    assert_eq!(figures.len(), 2 + 6, "{readme}");
    for figure in &figures[2..] {
        let fields: Vec<&str> = figure.split('|').map(str::trim).collect();
        assert_eq!(fields[..5], row(fields[0])[..5], "{readme}");
    }
    let plot = fs::read_to_string(file("plot.svg")).unwrap();
    assert_eq!(plot.matches("class=\"curve").count(), 2 * 5, "{plot}");
}

#[test]
fn a_part_that_does_not_exist_is_not_measured() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_lock-bench"));
    let output = program.arg("cycles").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.starts_with("usage: lock-bench"), "{told}");
}
