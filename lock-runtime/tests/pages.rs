//! Rules that all pages of the documentation follow.

mod source_files;

use std::collections::{BTreeMap, BTreeSet};
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
        // These are included in the middle of a page.
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
        .split_once("\n# Options\n")
        .expect("the table comes first");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ["));
    let rows: Vec<_> = rows
        .filter_map(|row| row.split_once("](#"))
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

/// The attribute's table and the table of `topologies` agree on where an option is missing.
#[test]
fn tables_of_options_agree_about_where_they_work() {
    let (_, places) = pages()
        .into_iter()
        .find(|(path, _)| path.ends_with("docs/topologies.md"))
        .expect("the page is there");
    let (_, places) = places
        .split_once("\n# Which options work where\n")
        .expect("the table is there");
    let of_place = |option: &str| {
        let row = places.lines().find(|line| {
            let first = line.split('|').nth(1).unwrap_or_default();
            first.contains(&format!("`{option}`"))
        });
        row.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>())
    };
    let (table, _) = ATTRIBUTE
        .split_once("\n# Options\n")
        .expect("the table comes first");
    let mut compared = 0;
    for row in table.lines().filter(|line| line.starts_with("| [")) {
        let option = row.split(['[', ']']).nth(1).expect("an option");
        let limits = row.split('|').rev().nth(1).expect("a cell");
        let is_free = |cell: &str| cell == "yes" || cell.starts_with("up to 24 h");
        let expected = match of_place(option) {
            Some(cells) => [3, 4, 5].map(|cell| !is_free(cells[cell])),
            None => [false; 3],
        };
        compared += usize::from(expected.contains(&true));
        let named = ["cluster", "quorum", "Redisson"].map(|place| limits.contains(place));
        assert_eq!(named, expected, "{option}: {limits}");
    }
    assert!(compared >= 5, "{compared} options");
}

/// A link with a fragment to a page of the guide, or within one, leads to a heading.
#[test]
fn link_to_a_heading_leads_to_an_existing_heading() {
    let modules = fs::read_to_string(source_files::root().join("docs/mod.rs")).expect("it is text");
    let mut files = BTreeMap::<&str, Vec<&str>>::new();
    let mut module = "";
    for line in modules.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("pub mod ") {
            module = name.trim_end_matches([' ', '{', ';']);
        } else if let Some((_, file)) = line.split_once("include_str!(\"") {
            let (file, _) = file.split_once('"').expect("it is closed");
            files.entry(module).or_default().push(file);
        }
    }
    let ids = |module: &str| -> BTreeSet<String> {
        let files = files.get(module).unwrap_or_else(|| panic!("no {module}"));
        let text = |file: &&str| fs::read_to_string(source_files::root().join("docs").join(file));
        let texts: Vec<_> = files.iter().filter_map(|file| text(file).ok()).collect();
        texts.iter().flat_map(|text| headings(text)).collect()
    };
    let mut links = 0;
    let mut sources = pages();
    for path in source_files::below(&source_files::root(), "rs") {
        sources.push((path.clone(), fs::read_to_string(path).expect("it is text")));
    }
    for (path, text) in &sources {
        for link in text.split("](").skip(1) {
            let link = link.split([')', '\n']).next().unwrap_or_default();
            let Some((target, fragment)) = link.split_once('#') else {
                continue;
            };
            let is_page = path.extension().is_some_and(|extension| extension == "md");
            let ids = match target.rsplit("::").next().unwrap_or_default() {
                "" if is_page => headings(text).collect(),
                module if files.contains_key(module) => ids(module),
                _ => continue,
            };
            links += 1;
            assert!(
                ids.contains(fragment),
                "{}: {link}, and there is {ids:?}",
                path.display()
            );
        }
    }
    assert!(links > 60, "{links} links");
}

/// The ids that rustdoc gives to the headings of a page.
fn headings(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut is_code = false;
    let lines = text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.filter_map(heading).map(|heading| {
        let kept = heading.chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
            _ => None,
        });
        kept.collect()
    })
}

/// The glossary has thirty words at most, and each page links to it.
#[test]
fn page_leads_to_the_glossary_which_is_short() {
    for (path, text) in pages() {
        if path.ends_with("docs/glossary.md") {
            let words = text.lines().filter(|line| line.starts_with("| **"));
            assert!(words.count() <= 30);
            continue;
        }
        // These belong to a page that links to the glossary in another part, or to a page outside the guide.
        let is_part = [
            "failure_path.md",
            "key_part.md",
            "how_it_works/hand_off.md",
            "how_it_works/loss.md",
            "docs/performance.md",
        ];
        let is_part = is_part.iter().any(|part| path.ends_with(part));
        assert!(
            is_part || text.contains("docs::glossary") || text.contains("super::glossary"),
            "{}",
            path.display()
        );
    }
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
