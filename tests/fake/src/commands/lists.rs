//! Commands on lists.

use super::numbers::{Places, integer, place};
use crate::reply::{Outcome, Reply};
use crate::state::State;
use crate::value::{Bytes, List};

pub(super) fn lpush(state: &mut State, words: &[Bytes]) -> Outcome {
    let list = state.find_or_create::<List>(&words[0])?;
    for text in &words[1..] {
        list.push_front(text.clone());
    }
    Ok(Reply::count(list.len()))
}

pub(super) fn rpush(state: &mut State, words: &[Bytes]) -> Outcome {
    let list = state.find_or_create::<List>(&words[0])?;
    list.extend(words[1..].iter().cloned());
    Ok(Reply::count(list.len()))
}

pub(super) fn lindex(state: &mut State, words: &[Bytes]) -> Outcome {
    // The number is not read if there is no list.
    let Some(list) = state.find::<List>(&words[0])? else {
        return Ok(Reply::Nil);
    };
    let place = place(integer(&words[1])?, list.len());
    Ok(Reply::bulk_or_nil(place.and_then(|place| list.get(place))))
}

pub(super) fn lrange(state: &mut State, words: &[Bytes]) -> Outcome {
    let places = Places::parse(&words[1], &words[2])?;
    let list = state.find::<List>(&words[0])?;
    let found = list
        .into_iter()
        .flat_map(|list| list.range(places.of(list.len())));
    Ok(Reply::bulks(found.cloned()))
}
