//! Messages to subscribers.

use super::{option, unknown_subcommand};
use crate::pattern;
use crate::reply::{Outcome, Reply};
use crate::state::State;
use crate::value::Bytes;

pub(super) fn publish(state: &mut State, words: &[Bytes]) -> Outcome {
    let (channel, payload) = (&words[0], &words[1]);
    state.published.push((channel.clone(), payload.clone()));
    let matching = state.patterns.iter();
    let matching = matching.filter(|(pattern, _)| pattern::matches(pattern, channel));
    let monitors: u32 = matching.map(|(_, count)| count).sum();
    Ok(Reply::Integer(
        (subscribers(state, channel) + monitors).into(),
    ))
}

/// Only NUMSUB.
pub(super) fn pubsub(state: &mut State, words: &[Bytes]) -> Outcome {
    if option(&words[0]) != "NUMSUB" {
        return unknown_subcommand("PUBSUB", &words[0]);
    }
    let count = |channel: &Bytes| {
        let count = subscribers(state, channel);
        [Reply::Bulk(channel.clone()), Reply::Integer(count.into())]
    };
    Ok(Reply::Array(words[1..].iter().flat_map(count).collect()))
}

fn subscribers(state: &State, channel: &Bytes) -> u32 {
    state.channels.get(channel).copied().unwrap_or(0)
}
