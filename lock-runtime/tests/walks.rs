//! The section "Three walks" of `ARCHITECTURE.md`: every file that it names exists, and a walk is short enough to read.
//!
//! In a walk, backticks surround files, and three other things that are told apart by their spelling: a function ends
//! with `()`, a type begins with a capital, and an option of the attribute has an `=`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The most files that a walk names.
const FILES: usize = 30;

/// The most lines of the page.
const LINES: usize = 150;

/// The folders that a walk names without the folder that they are in.
const FOLDERS: &[(&str, &str)] = &[
    ("remote", "lock-runtime/src/backend"),
    ("redis", "lock-runtime/src/backend"),
    ("transport", "lock-runtime/src/backend/redis"),
    ("lua", "lock-runtime/src/backend/redis"),
    // Another crate of the repository.
    ("lock-macros", ""),
];

#[test]
fn every_file_of_a_walk_exists() {
    let Some(page) = page() else { return };
    let walks = walks(&page);
    assert_eq!(walks.len(), 3, "three walks");
    let missing: Vec<_> = walks
        .iter()
        .flat_map(|walk| files(walk))
        .filter(|file| !repository().join(file).is_file())
        .collect();
    assert!(missing.is_empty(), "no such files: {missing:#?}");
}

#[test]
fn no_walk_names_more_than_30_files() {
    let Some(page) = page() else { return };
    for walk in walks(&page) {
        let files: BTreeSet<_> = files(walk).into_iter().collect();
        let title = walk.lines().next().unwrap_or_default();
        assert!(files.len() <= FILES, "{}: {title}", files.len());
    }
}

#[test]
fn page_has_at_most_150_lines() {
    let Some(page) = page() else { return };
    let lines = page.lines().count();
    assert!(lines <= LINES, "ARCHITECTURE.md has {lines} lines");
}

#[test]
fn names_of_a_walk_are_resolved_as_its_page_says() {
    let walk = "**A walk.** `lock-macros/src/expand/mod` → `client/acquire`, the `Acquire`, whose `lock()` is (with\n\
                `on_lost = \"finish\"`) in `guard` → `remote/release` → `reaper` → `lua/end.lua` → `choose.lua`.";
    assert_eq!(
        files(walk),
        [
            "lock-macros/src/expand/mod.rs",
            "lock-runtime/src/client/acquire.rs",
            "lock-runtime/src/client/guard.rs",
            "lock-runtime/src/backend/remote/release.rs",
            "lock-runtime/src/backend/remote/reaper.rs",
            "lock-runtime/src/backend/redis/lua/end.lua",
            "lock-runtime/src/backend/redis/lua/choose.lua",
        ]
    );
    let page = "# Title\n\n**No walk.** `a`\n\n## Three walks\n\nThe rule: `remote`.\n\n\
                **One.** `b`\n`c`\n\n**Two.** `d`\n\n## Next\n\n**No walk.** `e`\n";
    assert_eq!(walks(page), ["**One.** `b`\n`c`", "**Two.** `d`"]);
}

fn repository() -> PathBuf {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
    runtime.join("..")
}

/// The page, which is not in the published crate: cargo leaves its own copy of the manifest there.
fn page() -> Option<String> {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR"));
    if runtime.join("Cargo.toml.orig").exists() {
        return None;
    }
    Some(fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap())
}

/// The paragraphs of the section that begin with a title. The first paragraph says how to read them.
fn walks(page: &str) -> Vec<&str> {
    let (_, section) = page.split_once("\n## Three walks\n").unwrap();
    let section = section.split("\n## ").next().unwrap_or_default();
    let paragraphs = section.split("\n\n").map(str::trim);
    paragraphs
        .filter(|paragraph| paragraph.starts_with("**"))
        .collect()
}

/// The files that a walk names, in the order of their names there.
fn files(walk: &str) -> Vec<String> {
    let mut folder = String::new();
    let quoted = walk.split('`').skip(1).step_by(2);
    let names = quoted.filter(|quoted| is_file(quoted));
    names
        .map(|name| {
            let name = match Path::new(name).extension() {
                Some(_) => name.to_owned(),
                None => format!("{name}.rs"),
            };
            if let Some((path, _)) = name.rsplit_once('/') {
                folder = from_repository(path);
            }
            let file = name.rsplit('/').next().unwrap_or_default();
            format!("{folder}/{file}")
        })
        .collect()
}

fn is_file(quoted: &str) -> bool {
    let is_function = quoted.ends_with("()");
    let is_type = quoted.starts_with(char::is_uppercase);
    let is_option = quoted.contains('=');
    !is_function && !is_type && !is_option
}

/// The path of a folder, as a walk writes it, from the root of the repository.
fn from_repository(path: &str) -> String {
    let first = path.split('/').next().unwrap_or_default();
    match FOLDERS.iter().find(|(name, _)| *name == first) {
        Some((_, "")) => path.to_owned(),
        Some((_, parent)) => format!("{parent}/{path}"),
        None => format!("lock-runtime/src/{path}"),
    }
}
