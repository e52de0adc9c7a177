//! The layers of this crate, as its sources import each other.
//!
//! Imports run down the table below, so that no two folders import each other. Every path in the code counts, including
//! paths in macros and functions; documentation and unit tests do not.

mod source_files;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// From the top to the bottom. A file belongs to the longest entry that its path begins with, and imports files of its
/// own entry and of lower lines. Entries on one line do not import each other.
const LAYERS: &[&[&str]] = &[
    &["lib"],
    &["macro_support", "inspect"],
    &["client"],
    &["call_tree"],
    &["backend/held_lease"],
    &["backend/any_inspection"],
    &["backend/any"],
    &["backend/admission", "backend/caller"],
    &["backend/memory", "backend/remote"],
    &["backend/redis"],
    &["backend/engine"],
    &["backend"],
    &["backend/wire"],
    &["lock_order"],
    &["config"],
    &["state"],
    &["lease"],
    &["telemetry"],
    &["background"],
    &["error"],
    &["key"],
    &["docs", "control"],
];

/// The names that several files have: a folder's own file, its list of the files that `tests/model` includes, and the
/// stand-in for a disabled feature.
const SHARED_NAMES: &[&str] = &["mod", "pure", "enabled", "disabled"];

/// For each file, the files that declare its imports.
type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn imports_run_down_the_layers() {
    let graph = graph(&sources());
    let mut upward = Vec::new();
    for (file, imports) in &graph {
        for import in imports {
            let (from, to) = (layer(file), layer(import));
            let is_down = from == to || from.0 < to.0;
            // A folder's own file declares what is in it.
            if !is_down && !is_inside(import, file) {
                upward.push(format!("{file} imports {import}"));
            }
        }
    }
    assert!(upward.is_empty(), "upward:\n{}", upward.join("\n"));
}

#[test]
fn every_layer_has_files() {
    let sources = sources();
    for entry in LAYERS.iter().copied().flatten() {
        let has_files = sources.keys().any(|file| is_inside(file, entry));
        assert!(has_files, "{entry} has no file");
    }
}

/// A name that two files share leads a reader to the wrong one.
#[test]
fn no_two_files_have_one_name() {
    let names = sources().into_keys().filter_map(|path| {
        let (_, name) = path.rsplit_once('/')?;
        (!SHARED_NAMES.contains(&name)).then(|| name.to_owned())
    });
    let mut files = BTreeMap::<String, usize>::new();
    for name in names {
        *files.entry(name).or_default() += 1;
    }
    files.retain(|_, count| *count > 1);
    assert!(files.is_empty(), "{files:?}");
}

#[test]
fn an_upward_import_is_found() {
    let sources = BTreeMap::from([
        source("lease/mod", "pub mod schedule;"),
        source("lease/schedule", "fn f() { crate::client::core::g(); }"),
        source(
            "client/mod",
            "pub mod core; pub mod guard; pub mod parent; use guard::Guard;",
        ),
        source(
            "client/core",
            "use super::guard::{self, Guard}; use std::fmt;",
        ),
        source("client/guard", "mac!(crate::client::core::Core);"),
        source(
            "key/mod",
            "/// As [`crate::client`].\n#[cfg(test)] mod tests { use crate::client; }",
        ),
    ]);
    let graph = graph(&sources);
    let imports = |file: &str| graph[file].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(imports("lease/schedule"), ["client/core"]);
    assert!(layer("lease/schedule").0 > layer("client/core").0);
    assert_eq!(imports("client/core"), ["client/guard"]);
    assert_eq!(imports("client/guard"), ["client/core"]);
    assert!(
        imports("key/mod").is_empty(),
        "documentation and tests do not count"
    );
}

fn source(file: &str, text: &str) -> (String, TokenStream) {
    (file.to_owned(), text.parse().unwrap())
}

/// The sources by path, without the ending.
fn sources() -> BTreeMap<String, TokenStream> {
    let folder = source_files::root();
    source_files::below(&folder, "rs")
        .into_iter()
        .filter(|path| !path.ends_with("tests.rs"))
        .map(|path| {
            let name = path.strip_prefix(&folder).unwrap().with_extension("");
            let name = name.to_str().unwrap().replace('\\', "/");
            let text = fs::read_to_string(&path).unwrap();
            (name, text.parse().unwrap())
        })
        .collect()
}

/// Returns whether `file` is `entry` or inside it.
fn is_inside(file: &str, entry: &str) -> bool {
    let entry = entry.strip_suffix("/mod").unwrap_or(entry);
    let rest = file.strip_prefix(entry);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the line of a file's entry, and the entry.
fn layer(file: &str) -> (usize, &'static str) {
    let entries = LAYERS
        .iter()
        .enumerate()
        .flat_map(|(line, entries)| entries.iter().map(move |entry| (line, *entry)));
    entries
        .filter(|(_, entry)| is_inside(file, entry))
        .max_by_key(|(_, entry)| entry.len())
        .unwrap_or_else(|| panic!("{file} is in no layer"))
}

fn graph(sources: &BTreeMap<String, TokenStream>) -> Graph {
    sources
        .iter()
        .map(|(file, tokens)| {
            let mut paths = Vec::new();
            collect(tokens.clone(), &mut paths);
            let imports = paths.iter().filter_map(|path| resolve(file, path, sources));
            (
                file.clone(),
                imports.filter(|import| import != file).collect(),
            )
        })
        .collect()
}

/// Collects the paths that begin with `crate`, `super` or `self`.
fn collect(tokens: TokenStream, paths: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if is_test_module(&tokens[at..]) {
            at += 5;
            continue;
        }
        match &tokens[at] {
            // A visibility such as `pub(super)` is not an import.
            TokenTree::Ident(ident) if ident == "pub" => {
                let is_restricted = matches!(tokens.get(at + 1), Some(TokenTree::Group(group))
                    if group.delimiter() == Delimiter::Parenthesis);
                at += if is_restricted { 2 } else { 1 };
            }
            // `use child::Item` in the file that declares `child`.
            TokenTree::Ident(ident) if ident == "use" => {
                let is_relative = matches!(tokens.get(at + 1), Some(TokenTree::Ident(first))
                    if !["crate", "super", "self"].iter().any(|it| first == it));
                at = if is_relative {
                    path(&tokens, at + 1, vec!["self".to_owned()], paths)
                } else {
                    at + 1
                };
            }
            TokenTree::Ident(ident) if ["crate", "super", "self"].iter().any(|it| ident == it) => {
                at = path(&tokens, at, Vec::new(), paths);
            }
            TokenTree::Group(group) => {
                collect(group.stream(), paths);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// `#[cfg(test)] mod tests { … }` or `#[cfg(test)] mod tests;`
fn is_test_module(tokens: &[TokenTree]) -> bool {
    let [hash, attribute, module, _name, _body, ..] = tokens else {
        return false;
    };
    let attribute = attribute.to_string().replace(' ', "");
    hash.to_string() == "#" && attribute == "[cfg(test)]" && module.to_string() == "mod"
}

/// Reads the path that begins at `at`, with all branches of a use tree. Returns where it ends.
fn path(
    tokens: &[TokenTree],
    mut at: usize,
    mut before: Vec<String>,
    paths: &mut Vec<Vec<String>>,
) -> usize {
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => before.push(ident.to_string()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for branch in inner.split(|token| token.to_string() == ",") {
                    path(branch, 0, before.clone(), paths);
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        let is_colon = |at: usize| tokens.get(at).is_some_and(|token| token.to_string() == ":");
        if !is_colon(at) || !is_colon(at + 1) {
            break;
        }
        at += 2;
    }
    paths.push(before);
    at
}

/// The file that declares the item of a path, if this crate has it.
fn resolve(file: &str, path: &[String], sources: &BTreeMap<String, TokenStream>) -> Option<String> {
    let mut module: Vec<&str> = match path.first()?.as_str() {
        "crate" => Vec::new(),
        _ => {
            let module = file.strip_suffix("/mod").unwrap_or(file);
            module.split('/').filter(|part| *part != "lib").collect()
        }
    };
    for part in path {
        match part.as_str() {
            "crate" | "self" => {}
            "super" => {
                module.pop();
            }
            part => module.push(part),
        }
    }
    loop {
        let name = module.join("/");
        let folder = format!("{name}/mod");
        if sources.contains_key(&name) {
            return Some(name);
        }
        if sources.contains_key(&folder) {
            return Some(folder);
        }
        module.pop()?;
    }
}
