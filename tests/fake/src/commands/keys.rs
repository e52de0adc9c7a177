//! Commands on keys of any type.

use super::numbers::integer;
use super::{SYNTAX, option};
use crate::pattern;
use crate::reply::{Outcome, Reply, fail};
use crate::state::State;
use crate::value::Bytes;

pub(super) fn del(state: &mut State, keys: &[Bytes]) -> Outcome {
    let is_deleted = |key: &&Bytes| state.entry(key).is_some() && state.keys.remove(*key).is_some();
    Ok(Reply::count(keys.iter().filter(is_deleted).count()))
}

/// Not in the server's form. Equal values have equal dumps.
pub(super) fn dump(state: &mut State, words: &[Bytes]) -> Outcome {
    let entry = state.entry(&words[0]);
    Ok(entry.map_or(Reply::Nil, |entry| {
        Reply::text(format!("{:?}", entry.value))
    }))
}

pub(super) fn exists(state: &mut State, keys: &[Bytes]) -> Outcome {
    let found = keys.iter().filter(|key| state.entry(key).is_some());
    Ok(Reply::count(found.count()))
}

pub(super) fn flushall(state: &mut State, words: &[Bytes]) -> Outcome {
    if !words.is_empty() {
        return fail(SYNTAX);
    }
    state.keys.clear();
    Ok(Reply::ok())
}

pub(super) fn keys(state: &mut State, words: &[Bytes]) -> Outcome {
    let pattern = &words[0];
    if !pattern::is_known(pattern) {
        return fail(SYNTAX);
    }
    state.sweep();
    let found = state.keys.keys();
    Ok(Reply::bulks(
        found.filter(|key| pattern::matches(pattern, key)).cloned(),
    ))
}

pub(super) fn persist(state: &mut State, words: &[Bytes]) -> Outcome {
    let entry = state.entry(&words[0]);
    let had_expiry = entry.is_some_and(|entry| entry.expires.take().is_some());
    Ok(Reply::flag(had_expiry))
}

pub(super) fn pexpire(state: &mut State, words: &[Bytes]) -> Outcome {
    check_options(&words[2..])?;
    let ms = integer(&words[1])?;
    match state.now_ms().checked_add(ms) {
        Some(at) => Ok(expire(state, &words[0], at)),
        None => fail("ERR invalid expire time in 'pexpire' command"),
    }
}

pub(super) fn pexpireat(state: &mut State, words: &[Bytes]) -> Outcome {
    check_options(&words[2..])?;
    let at = integer(&words[1])?;
    Ok(expire(state, &words[0], at))
}

fn check_options(options: &[Bytes]) -> Result<(), Reply> {
    match options {
        [] => Ok(()),
        [first, ..] => fail(format!("ERR Unsupported option {}", option(first))),
    }
}

fn expire(state: &mut State, key: &[u8], at: i64) -> Reply {
    let now = state.now_ms();
    let Some(entry) = state.entry(key) else {
        return Reply::flag(false);
    };
    entry.expires = Some(at);
    // Here the current millisecond is over already, unlike when a key is read.
    if at <= now {
        state.keys.remove(key);
    }
    Reply::flag(true)
}

pub(super) fn pexpiretime(state: &mut State, words: &[Bytes]) -> Outcome {
    let entry = state.entry(&words[0]);
    let expires = entry.map_or(-2, |entry| entry.expires.unwrap_or(-1));
    Ok(Reply::Integer(expires))
}

pub(super) fn pttl(state: &mut State, words: &[Bytes]) -> Outcome {
    let now = state.now_ms();
    let left = match state.entry(&words[0]) {
        None => -2,
        Some(entry) => entry.expires.map_or(-1, |expires| expires - now),
    };
    Ok(Reply::Integer(left))
}

pub(super) fn time(state: &mut State, _: &[Bytes]) -> Outcome {
    const SECOND: i64 = 1_000_000;
    let parts = [state.now.div_euclid(SECOND), state.now.rem_euclid(SECOND)];
    Ok(Reply::bulks(
        parts.map(|number| number.to_string().into_bytes()),
    ))
}

pub(super) fn kind(state: &mut State, words: &[Bytes]) -> Outcome {
    let entry = state.entry(&words[0]);
    let kind = entry.map_or("none", |entry| entry.value.kind());
    Ok(Reply::Status(kind.into()))
}
