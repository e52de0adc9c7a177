//! Commands on hashes.

use super::numbers::integer;
use super::wrong_count;
use crate::reply::{Outcome, Reply, fail};
use crate::state::State;
use crate::value::{Bytes, Hash};

pub(super) fn hset(state: &mut State, words: &[Bytes]) -> Outcome {
    let (key, pairs) = (&words[0], &words[1..]);
    if pairs.len() % 2 != 0 {
        return fail(wrong_count("hset"));
    }
    let hash = state.find_or_create::<Hash>(key)?;
    let is_added = |pair: &&[Bytes]| hash.insert(pair[0].clone(), pair[1].clone()).is_none();
    Ok(Reply::count(pairs.chunks(2).filter(is_added).count()))
}

pub(super) fn hget(state: &mut State, words: &[Bytes]) -> Outcome {
    let hash = state.find::<Hash>(&words[0])?;
    let text = hash.and_then(|hash| hash.get(&words[1]));
    Ok(Reply::bulk_or_nil(text))
}

pub(super) fn hgetall(state: &mut State, words: &[Bytes]) -> Outcome {
    let hash = state.find::<Hash>(&words[0])?;
    let pairs = hash.into_iter().flatten();
    Ok(Reply::bulks(
        pairs.flat_map(|(field, text)| [field.clone(), text.clone()]),
    ))
}

pub(super) fn hkeys(state: &mut State, words: &[Bytes]) -> Outcome {
    let hash = state.find::<Hash>(&words[0])?;
    let fields = hash.into_iter().flat_map(|hash| hash.keys());
    Ok(Reply::bulks(fields.cloned()))
}

pub(super) fn hlen(state: &mut State, words: &[Bytes]) -> Outcome {
    let hash = state.find::<Hash>(&words[0])?;
    Ok(Reply::count(hash.map_or(0, |hash| hash.len())))
}

pub(super) fn hexists(state: &mut State, words: &[Bytes]) -> Outcome {
    let hash = state.find::<Hash>(&words[0])?;
    Ok(Reply::flag(
        hash.is_some_and(|hash| hash.contains_key(&words[1])),
    ))
}

pub(super) fn hdel(state: &mut State, words: &[Bytes]) -> Outcome {
    let Some(hash) = state.find::<Hash>(&words[0])? else {
        return Ok(Reply::count(0));
    };
    let removed = words[1..]
        .iter()
        .filter(|field| hash.remove(*field).is_some())
        .count();
    state.remove_if_empty(&words[0]);
    Ok(Reply::count(removed))
}

pub(super) fn hincrby(state: &mut State, words: &[Bytes]) -> Outcome {
    let (key, field, by) = (&words[0], &words[1], integer(&words[2])?);
    let hash = state.find::<Hash>(key)?;
    let before = match hash.and_then(|hash| hash.get(field)) {
        Some(text) => integer(text).or_else(|_| fail("ERR hash value is not an integer"))?,
        None => 0,
    };
    let Some(sum) = before.checked_add(by) else {
        return fail("ERR increment or decrement would overflow");
    };
    let hash = state.find_or_create::<Hash>(key)?;
    hash.insert(field.clone(), sum.to_string().into());
    Ok(Reply::Integer(sum))
}
