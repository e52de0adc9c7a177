//! Commands on strings.

use super::numbers::{Places, integer};
use super::{SYNTAX, option, wrong_count};
use crate::reply::{Outcome, Reply, fail};
use crate::state::State;
use crate::value::{Bytes, Value};

/// The most that a string may have, as servers are configured.
const MAX_LENGTH: usize = 512 << 20;

pub(super) fn get(state: &mut State, words: &[Bytes]) -> Outcome {
    let text = state.find::<Bytes>(&words[0])?;
    Ok(Reply::bulk_or_nil(text.as_deref()))
}

pub(super) fn strlen(state: &mut State, words: &[Bytes]) -> Outcome {
    let text = state.find::<Bytes>(&words[0])?;
    Ok(Reply::count(text.map_or(0, |text| text.len())))
}

pub(super) fn getrange(state: &mut State, words: &[Bytes]) -> Outcome {
    let places = Places::parse(&words[1], &words[2])?;
    let text = state.find::<Bytes>(&words[0])?;
    Ok(Reply::text(
        text.map_or(&[][..], |text| &text[places.of_text(text.len())]),
    ))
}

pub(super) fn set(state: &mut State, words: &[Bytes]) -> Outcome {
    let (key, text) = (&words[0], &words[1]);
    let options = Options::parse(&words[2..])?;
    let expires = options.expires(state.now_ms())?;
    let old = if options.gets {
        get(state, words)?
    } else {
        Reply::Nil
    };
    let entry = state.entry(key);
    let is_refused = match options.condition {
        Some(Condition::Absent) => entry.is_some(),
        Some(Condition::Present) => entry.is_none(),
        None => false,
    };
    if is_refused {
        return Ok(old);
    }
    let kept = entry
        .filter(|_| options.keeps_expiry)
        .and_then(|entry| entry.expires);
    state.set(key, Value::String(text.clone()), expires.or(kept));
    Ok(if options.gets { old } else { Reply::ok() })
}

/// The options of SET.
#[derive(Debug, Default)]
struct Options<'a> {
    condition: Option<Condition>,
    gets: bool,
    keeps_expiry: bool,
    /// The name of the option, and its number.
    expiry: Option<(String, &'a Bytes)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Condition {
    Absent,
    Present,
}

impl<'a> Options<'a> {
    fn parse(words: &'a [Bytes]) -> Result<Self, Reply> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let name = option(word);
            match &*name {
                "NX" if options.condition != Some(Condition::Present) => {
                    options.condition = Some(Condition::Absent);
                }
                "XX" if options.condition != Some(Condition::Absent) => {
                    options.condition = Some(Condition::Present);
                }
                "GET" => options.gets = true,
                "KEEPTTL" if options.expiry.is_none() => options.keeps_expiry = true,
                "EX" | "PX" | "EXAT" | "PXAT"
                    if options.expiry.is_none() && !options.keeps_expiry =>
                {
                    let Some(number) = words.next() else {
                        return fail(SYNTAX);
                    };
                    options.expiry = Some((name, number));
                }
                _ => return fail(SYNTAX),
            }
        }
        Ok(options)
    }

    /// When the key expires in ms since 1970.
    fn expires(&self, now_ms: i64) -> Result<Option<i64>, Reply> {
        let Some((name, number)) = &self.expiry else {
            return Ok(None);
        };
        let number = integer(number)?;
        let unit = if name.starts_with('E') { 1_000 } else { 1 };
        let base = if name.ends_with("AT") { 0 } else { now_ms };
        let at = number
            .checked_mul(unit)
            .and_then(|span| span.checked_add(base));
        match at {
            Some(at) if number > 0 => Ok(Some(at)),
            _ => fail("ERR invalid expire time in 'set' command"),
        }
    }
}

pub(super) fn setrange(state: &mut State, words: &[Bytes]) -> Outcome {
    let Ok(first) = usize::try_from(integer(&words[1])?) else {
        return fail("ERR offset is out of range");
    };
    let (key, patch) = (&words[0], &words[2]);
    let length = state.find::<Bytes>(key)?.map_or(0, |text| text.len());
    if patch.is_empty() {
        return Ok(Reply::count(length));
    }
    let end = first.saturating_add(patch.len());
    if end > MAX_LENGTH {
        return fail("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    }
    let text = state.find_or_create::<Bytes>(key)?;
    text.resize(length.max(end), 0);
    text[first..end].copy_from_slice(patch);
    Ok(Reply::count(text.len()))
}

pub(super) fn delifeq(state: &mut State, words: &[Bytes]) -> Outcome {
    let is_equal = state
        .find::<Bytes>(&words[0])?
        .is_some_and(|text| *text == words[1]);
    if is_equal {
        state.keys.remove(&words[0]);
    }
    Ok(Reply::flag(is_equal))
}

/// Only with IFEQ.
pub(super) fn delex(state: &mut State, words: &[Bytes]) -> Outcome {
    let [key, condition, text] = words else {
        return fail(wrong_count("delex"));
    };
    if option(condition) != "IFEQ" {
        return fail(SYNTAX);
    }
    delifeq(state, &[key.clone(), text.clone()])
        .or_else(|_| fail("ERR Key should be of string type if conditions are specified"))
}
