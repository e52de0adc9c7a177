//! The negative control: each of its patches fits the tree, and stands on the page with what it found.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use harness::rows;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const PAGE: &str = include_str!("../../../lock-runtime/src/docs/faults.md");

/// The locks that no patch is needed for: a table line each.
const PLAIN: usize = 2;

/// A patch, and what its head says.
struct Patch {
    path: PathBuf,
    removes: String,
    rows: Vec<String>,
    expects: String,
}

impl Patch {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).expect("it is text");
        let head = |name: &str| {
            let mut lines = text.lines().take_while(|line| !line.is_empty());
            let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            let value = value.unwrap_or_else(|| panic!("{}: no {name}", path.display()));
            value.to_owned()
        };
        Self {
            removes: head("removes"),
            rows: head("rows").split(' ').map(str::to_owned).collect(),
            expects: head("expects"),
            path,
        }
    }
}

fn patches() -> Vec<Patch> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/control/patches");
    let files = fs::read_dir(folder).expect("there are patches");
    files
        .map(|file| Patch::read(file.expect("it can be read").path()))
        .collect()
}

/// `tests/control/run` would fail, but takes minutes to say so.
#[test]
fn every_patch_applies() {
    for Patch { path, .. } in patches() {
        let check = Command::new("git")
            .args(["apply", "--check"])
            .arg(&path)
            .current_dir(ROOT)
            .output()
            .expect("there is a `git`");
        let error = String::from_utf8_lossy(&check.stderr);
        assert!(check.status.success(), "{}: {error}", path.display());
    }
}

#[test]
fn every_patch_is_played_by_rows_of_the_table() {
    for Patch { path, rows, .. } in patches() {
        for name in rows {
            let known = rows::TABLE.iter().any(|row| row.name == name);
            assert!(known, "{}: no row {name}", path.display());
        }
    }
}

#[test]
fn the_page_says_what_every_patch_was_found_by() {
    let lines: Vec<_> = PAGE
        .lines()
        .skip_while(|line| !line.starts_with("| taken away |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let mut told = PLAIN;
    for patch in patches() {
        for row in &patch.rows {
            let start = format!("| {} | `{row}` | {} | ", patch.removes, patch.expects);
            let found = lines.iter().any(|line| line.starts_with(&start));
            assert!(found, "tests/control/run --write: {start}");
            told += 1;
        }
    }
    assert_eq!(lines.len(), told, "{lines:#?}");
}
