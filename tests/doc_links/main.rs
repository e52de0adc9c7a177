//! `doc-links DOC README…`: checks that each link in rustdoc's pages in the folder `DOC` leads
//! somewhere, and each link of a `README` into these pages or to a file next to it.
//!
//! Rustdoc checks the links between items, but not the rest: anchors and addresses above all.

use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

/// The address of the published pages.
const PUBLISHED: &str = "https://docs.rs/lock-runtime/latest/";

/// The crates whose pages are checked.
const CRATES: [&str; 2] = ["lock_runtime", "lock_macros"];

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1).map(PathBuf::from);
    let doc = arguments.next().expect("the folder that rustdoc wrote");
    let mut site = Site {
        doc,
        ids: HashMap::new(),
    };
    let (mut links, mut broken) = (0, BTreeSet::new());
    let mut check = |site: &mut Site, page: &Path, link: &str| {
        links += 1;
        if !site.leads_somewhere(page, link) {
            broken.insert(format!("{}: {link}", page.display()));
        }
    };
    let folders = CRATES.map(|name| site.doc.join(name));
    for page in folders.iter().flat_map(|folder| pages(folder)) {
        let text = read(&page);
        for link in values(&text, "href") {
            check(&mut site, &page, link);
        }
    }
    for readme in arguments {
        let text = read(&readme);
        for link in links_of_markdown(&text) {
            check(&mut site, &readme, link);
        }
    }
    for link in &broken {
        eprintln!("broken: {link}");
    }
    println!("{links} links, {} broken", broken.len());
    assert!(links > 1_000, "some pages are missing");
    if broken.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

struct Site {
    doc: PathBuf,
    /// The ids of the pages that were read.
    ids: HashMap<PathBuf, BTreeSet<String>>,
}

impl Site {
    fn leads_somewhere(&mut self, page: &Path, link: &str) -> bool {
        let (base, link) = match link.strip_prefix(PUBLISHED) {
            Some(rest) => (self.doc.clone(), rest),
            None if link.contains("://") || link.starts_with("javascript:") => return true,
            None if is_of_another_crate(link) => return true,
            None => (page.parent().expect("it is in a folder").into(), link),
        };
        let (address, anchor) = link.split_once('#').unwrap_or((link, ""));
        let address = address.split('?').next().expect("split has a part");
        let mut target = match address {
            "" if link.starts_with('#') => page.to_owned(),
            _ => normal(&base.join(address)),
        };
        if target.is_dir() && address.ends_with('/') {
            target.push("index.html");
        }
        if !target.exists() {
            return false;
        }
        // A source page has ids for its lines, which a script creates.
        let is_source = target.starts_with(self.doc.join("src"));
        anchor.is_empty() || is_source || self.ids_of(&target).contains(&decoded(anchor))
    }

    fn ids_of(&mut self, page: &Path) -> &BTreeSet<String> {
        self.ids.entry(page.to_owned()).or_insert_with(|| {
            let text = read(page);
            values(&text, "id").map(decoded).collect()
        })
    }
}

/// Whether this is a link between items in the documentation of another crate's trait, whose page
/// that crate has.
fn is_of_another_crate(link: &str) -> bool {
    link.contains("::") || link.starts_with("dispatcher#")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All pages in a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "html")
        {
            found.push(path);
        }
    }
    found
}

/// The values of an HTML attribute, as rustdoc writes them.
fn values<'a>(html: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let begin = format!(" {attribute}=\"");
    let mut rest = html;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&begin)?;
        let (value, after) = after.split_once('"')?;
        rest = after;
        Some(value)
    })
}

/// The targets of `[text](target)` and `[name]: target`.
fn links_of_markdown(text: &str) -> impl Iterator<Item = &str> {
    let inline = text.split("](").skip(1);
    let inline = inline.filter_map(|rest| rest.split(')').next());
    let named = text.lines().filter(|line| line.starts_with('['));
    inline.chain(named.filter_map(|line| Some(line.split_once("]: ")?.1)))
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            _ => normal.push(part),
        }
    }
    normal
}

/// Decodes the percent signs of an anchor or an id.
fn decoded(anchor: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = anchor.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = || u8::from_str_radix(std::str::from_utf8(after.get(..2)?).ok()?, 16).ok();
        match hex().filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
