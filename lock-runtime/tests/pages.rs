//! What the pages of the documentation have in common, whatever they are about.

mod source_files;

use std::fs;
use std::path::PathBuf;

const ATTRIBUTE: &str = include_str!("../src/attribute.md");

/// The ids that rustdoc's own elements have, as `#settings` is its menu.
const IDS_OF_RUSTDOC: [&str; 5] = [
    "settings",
    "help",
    "search",
    "main-content",
    "toggle-all-docs",
];

/// The index of a module shows the first paragraph of each page.
#[test]
fn page_begins_with_a_sentence() {
    for (path, text) in pages() {
        let first = text.lines().find(|line| !line.is_empty());
        let first = first.expect("a page has text");
        let is_sentence = first.starts_with(|first: char| first.is_ascii_uppercase());
        // These stand in the middle of a page.
        let is_part =
            path.ends_with("failure_path.md") || path.iter().any(|part| part == "how_it_works");
        assert!(is_sentence || is_part, "{}: {first}", path.display());
    }
}

#[test]
fn heading_has_no_id_of_rustdoc() {
    for (path, text) in pages() {
        for heading in text.lines().filter_map(heading) {
            let id = heading.to_lowercase().replace(' ', "-");
            assert!(
                !IDS_OF_RUSTDOC.contains(&id.as_str()),
                "{}: {heading}",
                path.display()
            );
        }
    }
}

#[test]
fn table_of_options_has_each_option_of_the_attribute_before_its_section() {
    let (table, sections) = ATTRIBUTE
        .split_once("\n# Functions\n")
        .expect("the table comes first");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| [`"));
    let rows: Vec<_> = rows
        .filter_map(|row| row.split_once('`'))
        .map(|(option, _)| option)
        .collect();
    let sections = sections
        .lines()
        .filter_map(|line| line.strip_prefix("## `"));
    let sections: Vec<_> = sections
        .filter_map(|section| section.strip_suffix('`'))
        .collect();
    assert_eq!(rows, sections);
}

/// Most readers copy the first example of a page before they read on.
#[test]
fn first_example_hides_no_line_that_it_needs() {
    let crate_page = fs::read_to_string(source_files::root().join("lib.rs")).expect("it is there");
    let crate_page: Vec<_> = crate_page
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    for page in [crate_page.join("\n"), ATTRIBUTE.to_owned()] {
        let example = page.split("```").nth(1).expect("an example");
        assert!(example.contains("fn main()"), "{example}");
        assert!(
            !example.lines().any(|line| line.starts_with("# ")),
            "{example}"
        );
    }
}

fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    (text.len() < line.len())
        .then(|| text.strip_prefix(' '))
        .flatten()
}

/// The Markdown files of the sources.
fn pages() -> Vec<(PathBuf, String)> {
    let pages = source_files::below(&source_files::root(), "md");
    assert!(pages.len() > 15, "{pages:?}");
    let text = |path: PathBuf| (path.clone(), fs::read_to_string(path).expect("it is text"));
    pages.into_iter().map(text).collect()
}
