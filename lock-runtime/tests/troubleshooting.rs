//! The page `docs::troubleshooting` has each message of the sources, and no other.

mod source_files;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The functions that give an error its message.
const CONSTRUCTORS: [&str; 4] = ["invalid_options", "refused", "unavailable", "with_detail"];

/// Files in which each text of several words is a message.
const TEXTS: [&str; 2] = ["lease/loss_reason.rs", "key/key_problem.rs"];

/// The kinds of errors, whose words the page explains where they say something by themselves.
const KINDS: &str = "error/kind.rs";

const PAGE: &str = include_str!("../src/docs/troubleshooting.md");

#[test]
fn page_has_each_message_of_the_sources() {
    let page = of_page(PAGE);
    let mut missing = of_sources();
    missing.retain(|message| !page.contains(message));
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
}

#[test]
fn each_message_of_the_page_is_in_the_sources() {
    let mut known = of_sources();
    known.extend(texts(&tokens(&source(KINDS))));
    let mut unknown = of_page(PAGE);
    unknown.retain(|message| !known.contains(message));
    assert!(unknown.is_empty(), "not in the sources: {unknown:#?}");
}

#[test]
fn messages_are_found_in_constructors_and_formats() {
    let code = r#"
        fn f() {
            let error = WireError::unavailable("the connection broke");
            LockError::new(kind).with_detail(format!("{} of {needed} \
                came", 3));
            refused(text);
            refused("NOPERM");
            other("is no message");
        }
    "#;
    let found = messages(&tokens(code));
    let expected = ["the connection broke", "… of … came"].map(str::to_owned);
    assert_eq!(found, BTreeSet::from(expected));
}

#[test]
fn entries_of_a_page_are_in_tables_and_lists() {
    let page = "text `not this`\n| message | why |\n|---|---|\n| `a b` | `c` |\n- `` d `e` f ``\n- [A](#a)\n";
    let expected = ["a b", "d `e` f"].map(str::to_owned);
    assert_eq!(of_page(page), BTreeSet::from(expected));
}

fn of_sources() -> BTreeSet<String> {
    let root = source_files::root();
    let mut all = BTreeSet::new();
    for file in source_files::below(&root) {
        let name = file.strip_prefix(&root).expect("it was found there");
        let is_test = name
            .iter()
            .any(|part| part == "tests" || part == "tests.rs");
        if is_test {
            continue;
        }
        let tokens = tokens(&source(&name.to_string_lossy()));
        all.extend(messages(&tokens));
        if TEXTS.iter().any(|text| name == Path::new(text)) {
            all.extend(texts(&tokens));
        }
    }
    assert!(all.len() > 100, "the sources are not read any more");
    all
}

/// A source without its unit tests, which are at its end.
fn source(name: &str) -> String {
    let path = source_files::root().join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    text[..end].to_owned()
}

fn tokens(source: &str) -> Vec<TokenTree> {
    let tokens: TokenStream = source.parse().expect("it compiles");
    tokens.into_iter().collect()
}

/// The texts that constructors of errors get.
fn messages(tokens: &[TokenTree]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (place, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let is_call = group.delimiter() == Delimiter::Parenthesis
            && place
                .checked_sub(1)
                .is_some_and(|before| is_constructor(&tokens[before]));
        if is_call {
            found.extend(first_text(&inner));
        }
        found.extend(messages(&inner));
    }
    found
}

fn is_constructor(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(name) if CONSTRUCTORS.iter().any(|known| name == known))
}

/// The first argument, if it is a text or a format of several words.
fn first_text(arguments: &[TokenTree]) -> Option<String> {
    match arguments {
        [TokenTree::Literal(text), ..] => words(&text.to_string()),
        [
            TokenTree::Ident(name),
            TokenTree::Punct(_),
            TokenTree::Group(format),
            ..,
        ] if name == "format" => {
            let inner: Vec<TokenTree> = format.stream().into_iter().collect();
            first_text(&inner)
        }
        _ => None,
    }
}

/// All texts of several words.
fn texts(tokens: &[TokenTree]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_attribute = false;
    for token in tokens {
        match token {
            TokenTree::Literal(text) => found.extend(words(&text.to_string())),
            // Documentation is an attribute.
            TokenTree::Group(group) if !is_attribute => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                found.extend(texts(&inner));
            }
            _ => {}
        }
        is_attribute = match token {
            TokenTree::Punct(sign) => {
                sign.as_char() == '#' || is_attribute && sign.as_char() == '!'
            }
            _ => false,
        };
    }
    found
}

/// A literal as it is compared. `None` if it is one word, such as a code of the server's.
fn words(literal: &str) -> Option<String> {
    let text = literal.strip_prefix('"')?.strip_suffix('"')?;
    let (mut shown, mut letters) = (String::new(), text.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                '\n' => while letters.next_if(|next| next.is_whitespace()).is_some() {},
                escaped => shown.push(escaped),
            },
            letter => shown.push(letter),
        }
    }
    shown.contains(' ').then(|| without_braces(&shown))
}

/// A message with `…` for each pair of braces: a value, or braces that are meant.
fn without_braces(message: &str) -> String {
    let (mut shown, mut rest) = (String::new(), message);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((_, after)) = after.split_once('}') else {
            break;
        };
        shown += before;
        shown.push('…');
        rest = after;
    }
    shown + rest
}

/// The messages of the page: what stands in code at the begin of a row or of an item.
fn of_page(page: &str) -> BTreeSet<String> {
    let entry = |line: &str| {
        let rest = line
            .strip_prefix("| ")
            .or_else(|| line.strip_prefix("- "))?;
        let (open, close) = match rest.starts_with("`` ") {
            true => ("`` ", " ``"),
            false => ("`", "`"),
        };
        let (message, _) = rest.strip_prefix(open)?.split_once(close)?;
        Some(without_braces(message))
    };
    page.lines().filter_map(entry).collect()
}
