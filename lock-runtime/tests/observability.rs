//! The page `docs::observability` has each span, event and metric of the sources, with its level or kind and its fields
//! or labels, and no other.

mod source_files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proc_macro2::{TokenStream, TokenTree};

const PAGE: &str = include_str!("../src/docs/observability.md");

/// The macros of `tracing`, with their names on the page.
const LEVELS: [(&str, &str); 6] = [
    ("error", "ERROR"),
    ("warn", "WARN"),
    ("info", "INFO"),
    ("debug", "DEBUG"),
    ("trace", "TRACE"),
    ("info_span", "span"),
];

const KINDS: [&str; 3] = ["counter", "gauge", "histogram"];

/// The fields or labels, by name and by level or kind.
type Reports = BTreeMap<(String, String), BTreeSet<String>>;

#[test]
fn page_has_each_span_and_event_with_its_fields() {
    assert_eq!(of_page(), of_sources(reports));
}

#[test]
fn page_has_each_metric_with_its_labels() {
    let (page, code) = (metrics_of_page(), of_sources(metrics));
    assert_eq!(
        page.keys().collect::<Vec<_>>(),
        code.keys().collect::<Vec<_>>()
    );
    for (metric, labels) in &code {
        // The page describes some labels further, also in code.
        let told = &page[metric];
        assert!(
            labels.is_subset(told),
            "{metric:?}: {labels:?}, not {told:?}"
        );
        assert!(
            !labels.is_empty() || told.is_empty(),
            "{metric:?} has no labels"
        );
    }
}

#[test]
fn nothing_is_reported_elsewhere() {
    let (telemetry, mut found) = (source_files::root().join("telemetry"), Vec::new());
    for file in source_files::below(&source_files::root(), "rs") {
        let tokens = tokens(&fs::read_to_string(&file).unwrap());
        let is_silent = reports(&tokens).is_empty() && metrics(&tokens).is_empty();
        if !file.starts_with(&telemetry) && !is_silent {
            found.push(file);
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

fn of_sources(find: fn(&[TokenTree]) -> Reports) -> Reports {
    let mut all = Reports::new();
    for file in source_files::below(&source_files::root().join("telemetry"), "rs") {
        all.extend(find(&tokens(&fs::read_to_string(file).unwrap())));
    }
    assert!(all.len() > 5, "the sources are no longer read");
    all
}

fn tokens(source: &str) -> Vec<TokenTree> {
    let tokens: TokenStream = source.parse().expect("it compiles");
    tokens.into_iter().collect()
}

/// The name and the arguments of each macro call, outer ones first.
fn calls(tokens: &[TokenTree]) -> Vec<(String, Vec<TokenTree>)> {
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        if let Some([TokenTree::Ident(name), TokenTree::Punct(sign)]) =
            place.checked_sub(2).map(|begin| &tokens[begin..place])
            && sign.as_char() == '!'
        {
            found.push((name.to_string(), inner.clone()));
        }
        found.extend(calls(&inner));
    }
    found
}

fn arguments(call: &[TokenTree]) -> impl Iterator<Item = &[TokenTree]> {
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(sign) if sign.as_char() == ',');
    call.split(is_comma).filter(|argument| !argument.is_empty())
}

fn reports(tokens: &[TokenTree]) -> Reports {
    let mut found = Reports::new();
    for (called, call) in calls(tokens) {
        let Some((_, level)) = LEVELS.iter().find(|(name, _)| *name == called) else {
            continue;
        };
        let name = arguments(&call).find_map(|argument| match argument {
            [TokenTree::Literal(name)] => Some(unquoted(&name.to_string())),
            _ => None,
        });
        let fields = arguments(&call).filter_map(field).collect();
        let name = name.expect("a report has a name");
        found.insert((name, (*level).to_owned()), fields);
    }
    found
}

/// The name of a field: `name`, `%name` or `na.me = value`.
fn field(argument: &[TokenTree]) -> Option<String> {
    let mut name = String::new();
    for token in argument {
        match token {
            TokenTree::Ident(part) => name += &part.to_string(),
            TokenTree::Punct(sign) if sign.as_char() == '.' => name.push('.'),
            TokenTree::Punct(sign) if "%?".contains(sign.as_char()) && name.is_empty() => {}
            // The value follows.
            TokenTree::Punct(sign) if sign.as_char() == '=' => break,
            // The target, or the name of the report.
            _ => return None,
        }
    }
    Some(name)
}

fn metrics(tokens: &[TokenTree]) -> Reports {
    let names = constants(tokens);
    let mut found = Reports::new();
    for (kind, call) in calls(tokens) {
        if !KINDS.contains(&&*kind) {
            continue;
        }
        let mut arguments = arguments(&call);
        let Some([TokenTree::Ident(constant)]) = arguments.next() else {
            panic!("the name of a metric is a constant");
        };
        let labels = arguments.filter_map(|argument| match argument {
            [TokenTree::Literal(label), ..] => Some(unquoted(&label.to_string())),
            _ => None,
        });
        let name = names[&constant.to_string()].clone();
        found.insert((name, kind), labels.collect());
    }
    found
}

/// The texts of `const NAME: &str = "text";`.
fn constants(tokens: &[TokenTree]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for item in tokens.windows(7) {
        let [
            TokenTree::Ident(word),
            TokenTree::Ident(name),
            ..,
            TokenTree::Literal(text),
        ] = item
        else {
            continue;
        };
        if word == "const" {
            found.insert(name.to_string(), unquoted(&text.to_string()));
        }
    }
    found
}

fn unquoted(literal: &str) -> String {
    literal.trim_matches('"').to_owned()
}

fn section(title: &str) -> &'static str {
    let title = format!("\n# {title}\n");
    let (_, text) = PAGE.split_once(&title).expect("the page has the section");
    text.split("\n# ").next().unwrap_or(text)
}

/// The rows of the tables in a section of the page, each as its cells.
fn rows(title: &str) -> Vec<Vec<&'static str>> {
    let rows = section(title)
        .lines()
        .filter(|line| line.starts_with("| `"));
    let cells = rows.map(|row| row.split('|').map(str::trim).skip(1).collect());
    cells.collect()
}

/// The code spans of a cell or an item.
fn codes(cell: &str) -> BTreeSet<String> {
    let codes = cell.split('`').skip(1).step_by(2);
    codes.map(str::to_owned).collect()
}

fn only_code(cell: &str) -> String {
    let codes = codes(cell);
    assert_eq!(codes.len(), 1, "{cell}");
    codes.into_iter().next().unwrap_or_default()
}

fn of_page() -> Reports {
    let mut found = Reports::new();
    for row in rows("Spans") {
        // The other table there lists outcomes.
        if let [name, _, fields, _] = row[..] {
            found.insert((only_code(name), "span".to_owned()), codes(fields));
        }
    }
    let items = section("Events").lines();
    for item in items.filter_map(|line| line.strip_prefix("- **`")) {
        let (name, rest) = item.split_once("`**, ").expect("a name");
        let (level, fields) = rest.split_once(": ").expect("a level");
        found.insert((name.to_owned(), only_code(level)), codes(fields));
    }
    found
}

fn metrics_of_page() -> Reports {
    let metric = |row: Vec<&str>| {
        let [name, kind, labels, ..] = row[..] else {
            panic!("{row:?}");
        };
        let kind = kind.split([',', ':']).next().unwrap_or_default();
        ((only_code(name), kind.to_owned()), codes(labels))
    };
    rows("Metrics").into_iter().map(metric).collect()
}
