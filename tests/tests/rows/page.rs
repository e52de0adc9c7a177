//! The page on faults has every test, and names no test that does not exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use harness::rounds::{CONTROLS, Control};
use harness::rows;

const PAGE: &str = include_str!("../../../lock-runtime/src/docs/faults.md");

/// The cells of the page's tables that have this many columns.
fn lines<const CELLS: usize>() -> impl Iterator<Item = [&'static str; CELLS]> {
    PAGE.lines().filter_map(|line| {
        let line = line.strip_prefix('|')?.strip_suffix('|')?;
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        cells.try_into().ok()
    })
}

/// Each row is on the page once, with its class and its name.
pub(crate) fn has_every_row_and_no_other() {
    let told = lines().filter_map(|[_, class, _, row]| {
        let row = row.strip_prefix('`')?.strip_suffix('`')?;
        Some((row, class.to_owned()))
    });
    let told: Vec<_> = told.collect();
    let rows = rows::table().into_iter();
    let rows: BTreeMap<_, _> = rows.map(|row| (row.name, row.class.to_string())).collect();
    assert_eq!(told.len(), rows.len());
    assert_eq!(told.into_iter().collect::<BTreeMap<_, _>>(), rows);
}

/// The other tests that the page names are in the files that it names.
pub(crate) fn names_only_existing_tests() {
    let named: Vec<_> = lines()
        .filter_map(|[_, _, test]| {
            let words: Vec<_> = test.split('`').collect();
            let ["", file, " ", name, ""] = words[..] else {
                return None;
            };
            Some((file, name))
        })
        .collect();
    assert_eq!(named.len(), 35, "{named:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (file, name) in named {
        // In this package, in one of its own, or next to the code.
        let paths = [
            root.join("tests").join(file),
            root.join(file),
            root.join("..").join(file),
        ];
        let source = paths.iter().find_map(|path| fs::read_to_string(path).ok());
        let source = source.unwrap_or_else(|| panic!("no {file}"));
        assert!(source.contains(&format!("fn {name}()")), "{file} {name}");
    }
}

/// The page has each safety line and no other, and names the test that noticed its removal.
pub(crate) fn has_the_test_that_notices_each_control() {
    let told = PAGE.lines();
    let told = told
        .skip_while(|line| !line.starts_with("| removed |"))
        .skip(2);
    let told: Vec<_> = told.take_while(|line| line.starts_with('|')).collect();
    let lines: Vec<_> = CONTROLS.iter().flat_map(Control::lines).collect();
    assert_eq!(told, lines, "tests/control/run --write");
    let table = rows::table();
    let known = |name: &&&str| table.iter().any(|row| row.name == **name);
    let mut played = CONTROLS.iter().flat_map(Control::rows);
    assert!(
        played.all(|name| known(&name)),
        "each is a row of the table"
    );
}
