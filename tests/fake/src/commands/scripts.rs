//! Scripts: by their text, by their digest, and the list of those that the server knows.

use super::numbers::integer;
use super::{SYNTAX, option, unknown_subcommand, wrong_count};
use crate::interpreter::{self, digest_of};
use crate::reply::{Outcome, Reply, fail};
use crate::state::State;
use crate::value::Bytes;

pub(super) fn eval(state: &mut State, words: &[Bytes]) -> Outcome {
    let (keys, arguments) = split(words)?;
    let digest = load(state, &words[0])?;
    Ok(interpreter::run(state, &digest, keys, arguments))
}

pub(super) fn evalsha(state: &mut State, words: &[Bytes]) -> Outcome {
    let (keys, arguments) = split(words)?;
    let digest = digest_in(&words[0]);
    if !state.scripts.contains(&digest) {
        return fail("NOSCRIPT No matching script. Please use EVAL.");
    }
    Ok(interpreter::run(state, &digest, keys, arguments))
}

/// The keys and the arguments behind the script and the number of keys.
pub(super) fn split(words: &[Bytes]) -> Result<(&[Bytes], &[Bytes]), Reply> {
    let count = integer(&words[1])?;
    let Ok(count) = usize::try_from(count) else {
        return fail("ERR Number of keys can't be negative");
    };
    match words[2..].split_at_checked(count) {
        Some(split) => Ok(split),
        None => fail("ERR Number of keys can't be greater than number of args"),
    }
}

pub(super) fn script(state: &mut State, words: &[Bytes]) -> Outcome {
    match (&*option(&words[0]), &words[1..]) {
        ("LOAD", [source]) => load(state, source).map(Reply::text),
        ("EXISTS", [_, ..]) => {
            let is_known = |digest: &Bytes| Reply::flag(state.scripts.contains(&digest_in(digest)));
            Ok(Reply::Array(words[1..].iter().map(is_known).collect()))
        }
        ("FLUSH", []) => {
            state.scripts.clear();
            Ok(Reply::ok())
        }
        ("FLUSH", _) => fail(SYNTAX),
        ("LOAD" | "EXISTS", _) => fail(wrong_count(&format!(
            "script|{}",
            option(&words[0]).to_lowercase()
        ))),
        _ => unknown_subcommand("SCRIPT", &words[0]),
    }
}

fn load(state: &mut State, source: &[u8]) -> Result<String, Reply> {
    let digest = digest_of(source);
    if !state.scripts.contains(&digest) {
        interpreter::compile(&digest, source)?;
        state.scripts.insert(digest.clone());
    }
    Ok(digest)
}

fn digest_in(word: &[u8]) -> String {
    String::from_utf8_lossy(word).to_ascii_lowercase()
}
