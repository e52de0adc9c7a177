//! The negative control: each safety line is where its list says, and is on the page with the tests
//! that noticed its absence.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, iter};

use harness::rows;

const LIST: &str = include_str!("../../control/controls");
const LINTS: &str = include_str!("../../../Cargo.toml");
const PAGE: &str = include_str!("../../../lock-runtime/src/docs/faults.md");
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lock-runtime/src");

/// The locks that need no control: one table line each.
const PLAIN: usize = 2;

/// An entry of the list about a safety line.
struct Control {
    name: &'static str,
    removes: &'static str,
    files: BTreeSet<String>,
    rows: Vec<&'static str>,
    expects: &'static str,
}

impl Control {
    fn parse(entry: &'static str) -> Self {
        let field = |key: &str| {
            let mut lines = entry.lines();
            let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
            value.unwrap_or_else(|| panic!("no {key} in {entry}"))
        };
        Self {
            name: field("control"),
            removes: field("removes"),
            files: field("in").split(' ').map(str::to_owned).collect(),
            rows: field("rows").split(' ').collect(),
            expects: field("expects"),
        }
    }
}

fn controls() -> Vec<Control> {
    let entries = LIST.split("\n\n");
    let entries = entries.filter(|entry| !entry.starts_with('#'));
    entries.map(Control::parse).collect()
}

/// Calls `read` with the path and the text of each file in `folder` and below.
fn read_all(folder: &Path, read: &mut impl FnMut(&Path, String)) {
    for entry in fs::read_dir(folder).expect("the sources can be listed") {
        let path = entry.expect("the sources can be listed").path();
        if path.is_dir() {
            read_all(&path, read);
        } else {
            let text = fs::read_to_string(&path).expect("sources are text");
            read(&path, text);
        }
    }
}

/// The texts between `begin` and `end`.
fn between<'t>(text: &'t str, begin: &'t str, end: char) -> impl Iterator<Item = &'t str> {
    let parts = text.split(begin).skip(1);
    parts.filter_map(move |part| Some(part.split_once(end)?.0))
}

#[test]
fn every_control_is_in_the_files_that_the_list_names() {
    let mut found = BTreeMap::<String, BTreeSet<String>>::new();
    let sources = Path::new(SOURCES);
    read_all(sources, &mut |path, text| {
        let file = path.strip_prefix(sources).expect("it is below");
        let in_rust = between(&text, "is_removed!(\"", '"');
        let in_lua = between(&text, " -- control: ", '\n');
        let is_lua = path.extension().is_some_and(|extension| extension == "lua");
        for name in in_rust.chain(in_lua.filter(|_| is_lua)) {
            let files = found.entry(name.to_owned()).or_default();
            files.insert(file.to_str().expect("it is text").replace('\\', "/"));
        }
    });
    let listed: BTreeMap<_, _> = controls()
        .into_iter()
        .map(|control| (control.name.to_owned(), control.files))
        .collect();
    assert_eq!(found, listed);
}

/// The compiler reports a mistyped name.
#[test]
fn the_lints_know_the_controls_and_no_other() {
    let values = between(LINTS, "cfg(lock_control, values(", ')');
    let known: Vec<_> = values.flat_map(names).collect();
    let listed: Vec<_> = controls().iter().map(|control| control.name).collect();
    assert_eq!(known, listed);
}

/// The names in quotes.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let mut parts = text.split('"');
    iter::from_fn(move || parts.next().and(parts.next()))
}

#[test]
fn every_control_is_played_by_rows_of_the_table() {
    for Control { name, rows, .. } in controls() {
        for played in rows {
            let is_known = rows::TABLE.iter().any(|row| row.name == played);
            assert!(is_known, "{name}: no row {played}");
        }
    }
}

#[test]
fn the_page_says_what_noticed_every_control() {
    let lines: Vec<_> = PAGE
        .lines()
        .skip_while(|line| !line.starts_with("| taken away |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    let mut told = PLAIN;
    for control in controls() {
        for row in &control.rows {
            let start = format!("| {} | `{row}` | {} | ", control.removes, control.expects);
            let is_told = lines.iter().any(|line| line.starts_with(&start));
            assert!(is_told, "tests/control/run --write: {start}");
            told += 1;
        }
    }
    assert_eq!(lines.len(), told, "{lines:#?}");
}
