//! The page `docs::troubleshooting` has each message of the sources, and no other.

mod source_files;

use std::collections::BTreeSet;
use std::fs;

use proc_macro2::{TokenStream, TokenTree};

/// Macros and functions whose texts are not errors for callers: they are panics, scripts, names of safety lines, or are
/// compared with a server's text.
const NO_MESSAGE_IN: [&str; 15] = [
    "assert",
    "concat",
    "contains",
    "debug_assert",
    "debug_assert_eq",
    "env",
    "expect",
    "include_str",
    "is_removed",
    "lua",
    "panic",
    "rsplit_once",
    "split",
    "strip_prefix",
    "unreachable",
];

/// Folders and files without messages, with the page that has their texts.
const NO_MESSAGE_UNDER: [&str; 5] = [
    // Events and metrics: `docs::observability`.
    "telemetry",
    // Errors of the compiler, in attributes, and panics.
    "macro_support",
    // The panics of failed tests.
    "client/testing/each_await.rs",
    // Texts of a build for tests.
    "control.rs",
    "control",
];

/// Texts that are not messages of errors, by their purpose.
const NO_MESSAGES: &[&str] = &[
    // The panic of a wire that never mints a token.
    "each grant has a token here",
    // The holder, in the message of `is busy`.
    "… (reserved)",
    "a client that is not lock-runtime",
    "…, whose record never expires",
    "a client without a label",
    "a lock-runtime client …",
    "a Redisson client",
    "a Redisson client …",
    "a sibling in this call tree",
    "… (pid …)",
    "held by …",
    "… caller… with … of … permits",
    "… reader…",
    ", since …",
    "… ms",
    "… s",
    "the next waiter of its queue",
    // The outcome of a renewal that is not sent, since its lease is lost. The loss is reported.
    "its lease is over",
    // Reasons that only the event `connection_lost` has, which `docs::observability` explains.
    "an answer came without a command",
    "it does not answer",
    "its answer is not RESP3",
    "its client is gone",
    "its server is no longer the primary",
    "its server redirects to itself",
    "its setup failed",
    "it is silent, and others have its slots",
    "the connection is not used any more",
    "the node has no slots",
    "the sentinel is not asked any more",
    "… is silent, and another node has its slots",
    // Fields of the event `lock_order_full`.
    "mend the rings that were reported",
    "name the locks that are taken by hand: Acquire::name",
    "nest fewer different locks in each other",
    "… keys of locks without a name",
    "… pairs of locks",
    "… paths between two locks",
    "… rings of locks",
    "… templates and names of locks",
    // Receipts, and lines of the audit and of runs, for people.
    " after …",
    " (user …)",
    " (token …)",
    " on … nodes",
    ", by …",
    "a holder without a label",
    "a waiter has it now",
    "handed off to a waiter",
    "it is free",
    "not done, another holder had it",
    "not done, it was free",
    "lock `…` has another holder by now, and nothing was done",
    "lock `…` is free, and nothing was done",
    "took lock `…` from ",
    "… of … nodes have this owner; … answered",
    // The other parts of an error, and a server's text.
    "lock `…` …",
    "waited …",
    "ERR …",
    // Texts that a server's text is compared with.
    ", with args beginning with",
    "invalid password",
    "invalid username-password",
    "syntax error",
    "access a non local key",
    "cluster is down",
    "WAIT cannot be used with replica",
    "ERR syntax error",
    // Values of the panic of `assert_locked!`.
    " (lost)",
    " (shared)",
    "no lock of this client; spawned work holds none, unless `in_current_hold` carries them",
    // Values of other messages.
    "locks of several keys",
    "minimum hold",
    "run history",
    "readers, writers and permits",
    "1 permit",
    "… permits",
    "with …",
    "retained leases",
    "the name has no address",
    "the primary `…`",
    // Errors of parsers that programs call directly; they need no explanation.
    "a holder is named by its token, or by `record:` and sixteen hexadecimal digits",
    "the text is not the position of a listing",
    "a token is below 2^63",
];

/// The kinds of errors. The page explains the kinds that occur without a message.
const KINDS: &str = "error/kind.rs";

const PAGE: &str = include_str!("../src/docs/troubleshooting.md");

#[test]
fn page_has_each_message_of_the_sources() {
    let (sources, kinds) = (of_sources(), of_kinds());
    let known = sources.union(&kinds).map(String::as_str).collect();
    let page = of_page(PAGE);
    let explained: BTreeSet<&str> = page
        .iter()
        .filter_map(|entry| parts(entry, &known))
        .flatten()
        .collect();
    let missing: Vec<_> = sources
        .iter()
        .filter(|text| !explained.contains(text.as_str()))
        .collect();
    assert!(missing.is_empty(), "not on the page: {missing:#?}");
}

#[test]
fn each_message_of_the_page_is_in_the_sources() {
    let (sources, kinds) = (of_sources(), of_kinds());
    let known = sources.union(&kinds).map(String::as_str).collect();
    let mut unknown = of_page(PAGE);
    unknown.retain(|entry| parts(entry, &known).is_none());
    assert!(unknown.is_empty(), "not in the sources: {unknown:#?}");
}

#[test]
fn each_excluded_text_is_in_the_sources() {
    let mut gone = NO_MESSAGES.to_vec();
    let all = all_texts();
    gone.retain(|text| !all.contains(*text));
    assert!(gone.is_empty(), "no longer in the sources: {gone:#?}");
}

/// The texts that make up an entry. A value of a text may be another text, or `…`. `None` if the entry contains
/// anything else.
fn parts<'a>(entry: &str, known: &BTreeSet<&'a str>) -> Option<BTreeSet<&'a str>> {
    let all: BTreeSet<&str> = known.iter().flat_map(|text| pieces(text)).collect();
    let found = split_into(entry, &all)?;
    let is_there = |text: &&&str| {
        let mut left = found.iter();
        pieces(text).all(|piece| left.any(|found| *found == piece))
    };
    Some(known.iter().filter(is_there).copied().collect())
}

/// The pieces of a text between its values.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let between = text.split('…').map(|piece| piece.trim_matches(PUNCTUATION));
    between.filter(|piece| !piece.is_empty())
}

const PUNCTUATION: [char; 8] = [' ', '…', ':', ',', ';', '(', ')', '='];

/// The pieces that make up an entry, together with values and punctuation.
fn split_into<'a>(entry: &str, pieces: &BTreeSet<&'a str>) -> Option<Vec<&'a str>> {
    let entry = entry.trim_start_matches(PUNCTUATION);
    if entry.is_empty() {
        return Some(Vec::new());
    }
    let fitting = pieces
        .iter()
        .rev()
        .filter(|piece| entry.starts_with(**piece));
    fitting.copied().find_map(|piece| {
        let rest = &entry[piece.len()..];
        if rest.starts_with(char::is_alphanumeric) {
            return None;
        }
        let mut found = split_into(rest, pieces)?;
        found.insert(0, piece);
        Some(found)
    })
}

/// The messages of the sources.
fn of_sources() -> BTreeSet<String> {
    let mut all = all_texts();
    let kinds = of_kinds();
    all.retain(|text| !NO_MESSAGES.contains(&text.as_str()) && !kinds.contains(text));
    assert!(all.len() > 200, "the sources are no longer read");
    all
}

fn of_kinds() -> BTreeSet<String> {
    texts(&tokens(&source(KINDS)))
}

/// The texts of several words in Rust code outside of tests, and the errors of scripts.
fn all_texts() -> BTreeSet<String> {
    let root = source_files::root();
    let mut all = BTreeSet::new();
    for file in source_files::below(&root, "rs") {
        let name = file.strip_prefix(&root).expect("it is in the folder");
        let is_test = name
            .iter()
            .any(|part| part == "tests" || part == "tests.rs");
        if is_test || NO_MESSAGE_UNDER.iter().any(|under| name.starts_with(under)) {
            continue;
        }
        all.extend(texts(&tokens(&source(&name.to_string_lossy()))));
    }
    let scripts = fs::read_dir(root.join("backend/redis/lua")).expect("the scripts are there");
    for script in scripts {
        let script = script.expect("it can be read").path();
        all.extend(script_texts(
            &fs::read_to_string(script).expect("it is text"),
        ));
    }
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

/// The texts of several words, except in places where they are not messages.
fn texts(tokens: &[TokenTree]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Literal(text) => found.extend(words(&text.to_string())),
            TokenTree::Group(group) if !is_skipped(&tokens[..place]) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                found.extend(texts(&inner));
            }
            _ => {}
        }
    }
    found
}

/// Whether the group that follows has no messages: an attribute, including documentation, or the arguments of one of
/// [`NO_MESSAGE_IN`].
fn is_skipped(before: &[TokenTree]) -> bool {
    let is_sign = |token: &TokenTree, sign| matches!(token, TokenTree::Punct(found) if found.as_char() == sign);
    match before {
        [.., sign] if is_sign(sign, '#') => true,
        [.., hash, bang] if is_sign(hash, '#') && is_sign(bang, '!') => true,
        [.., TokenTree::Ident(name), bang] if is_sign(bang, '!') => {
            NO_MESSAGE_IN.iter().any(|known| name == known)
        }
        [.., TokenTree::Ident(name)] => NO_MESSAGE_IN.iter().any(|known| name == known),
        _ => false,
    }
}

/// The errors that a script returns, with `…` for the values between two texts.
fn script_texts(script: &str) -> BTreeSet<String> {
    let calls = script.split("redis.error_reply(").skip(1);
    let text = |call: &str| {
        let (call, _) = call.split_once(")\n").unwrap_or((call, ""));
        let pieces = call.split('\'').enumerate().skip(1);
        let shown = pieces.map(|(number, piece)| match number % 2 {
            1 => piece,
            _ if piece.contains("..") => "…",
            _ => "",
        });
        shown.collect()
    };
    calls.map(text).collect()
}

/// Returns a literal in the form that is compared; `None` if it is a single word, such as a server's error code.
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
    let shown = without_braces(&shown);
    let is_sentence = shown.contains(' ') && shown.contains(char::is_alphabetic);
    is_sentence.then_some(shown)
}

/// Returns a message with `…` for each pair of braces, whether it is a value or literal.
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

/// The section with the texts of servers, which are not in the sources. Tests on real servers look for their words there:
/// `observability/errors/server_words`.
const OF_SERVERS: &str = "\n# The server's own words\n";

/// The messages of the page: the code at the beginning of a row or an item.
fn of_page(page: &str) -> BTreeSet<String> {
    let (before, section) = page.split_once(OF_SERVERS).expect("the section is there");
    let (_, after) = section.split_once("\n# ").expect("others follow");
    let entry = |line: &str| {
        let rest = line
            .strip_prefix("| ")
            .or_else(|| line.strip_prefix("- "))?;
        let (open, close) = if rest.starts_with("`` ") {
            ("`` ", " ``")
        } else {
            ("`", "`")
        };
        let (message, _) = rest.strip_prefix(open)?.split_once(close)?;
        Some(without_braces(message))
    };
    let lines = before.lines().chain(after.lines());
    lines.filter_map(entry).collect()
}
