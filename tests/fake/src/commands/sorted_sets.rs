//! Commands on sorted sets.

use super::numbers::{Places, double, float, integer};
use super::{SYNTAX, option};
use crate::reply::{Outcome, Reply, fail};
use crate::state::State;
use crate::value::{Bytes, SortedSet};

pub(super) fn zadd(state: &mut State, words: &[Bytes]) -> Outcome {
    let (key, words) = (&words[0], &words[1..]);
    let is_option = |word: &&Bytes| ["NX", "XX"].contains(&&*option(word));
    let (options, pairs) = words.split_at(words.iter().take_while(is_option).count());
    if pairs.is_empty() || pairs.len() % 2 != 0 {
        return fail(SYNTAX);
    }
    let has = |name: &str| options.iter().any(|word| option(word) == name);
    let (if_absent, if_present) = (has("NX"), has("XX"));
    if if_absent && if_present {
        return fail("ERR XX and NX options at the same time are not compatible");
    }
    // No pair is stored if one of them is wrong.
    let pairs = pairs.chunks(2).map(|pair| Ok((float(&pair[0])?, &pair[1])));
    let pairs: Vec<(f64, &Bytes)> = pairs.collect::<Result<_, Reply>>()?;
    if if_present && state.find::<SortedSet>(key)?.is_none() {
        return Ok(Reply::count(0));
    }
    let set = state.find_or_create::<SortedSet>(key)?;
    let mut added = 0;
    for (score, member) in pairs {
        let known = set.score(member);
        // An equal score stays as it is: -0 is 0.
        if if_absent && known.is_some() || if_present && known.is_none() || known == Some(score) {
            continue;
        }
        added += usize::from(set.insert(member, score));
    }
    Ok(Reply::count(added))
}

pub(super) fn zrem(state: &mut State, words: &[Bytes]) -> Outcome {
    let Some(set) = state.find::<SortedSet>(&words[0])? else {
        return Ok(Reply::count(0));
    };
    let removed = words[1..].iter().filter(|member| set.remove(member));
    let removed = removed.count();
    state.remove_if_empty(&words[0]);
    Ok(Reply::count(removed))
}

pub(super) fn zcard(state: &mut State, words: &[Bytes]) -> Outcome {
    let set = state.find::<SortedSet>(&words[0])?;
    Ok(Reply::count(set.map_or(0, |set| set.len())))
}

pub(super) fn zscore(state: &mut State, words: &[Bytes]) -> Outcome {
    let set = state.find::<SortedSet>(&words[0])?;
    Ok(score_in(set.as_deref(), &words[1]))
}

pub(super) fn zmscore(state: &mut State, words: &[Bytes]) -> Outcome {
    let set = state.find::<SortedSet>(&words[0])?;
    let score = |member: &Bytes| score_in(set.as_deref(), member);
    Ok(Reply::Array(words[1..].iter().map(score).collect()))
}

fn score_in(set: Option<&SortedSet>, member: &[u8]) -> Reply {
    set.and_then(|set| set.score(member))
        .map_or(Reply::Nil, double)
}

pub(super) fn zrank(state: &mut State, words: &[Bytes]) -> Outcome {
    let set = state.find::<SortedSet>(&words[0])?;
    let place = set.and_then(|set| set.iter().position(|(member, _)| *member == words[1]));
    Ok(place.map_or(Reply::Nil, Reply::count))
}

pub(super) fn zrange(state: &mut State, words: &[Bytes]) -> Outcome {
    range_of_places(state, words, Order::Rising)
}

pub(super) fn zrevrange(state: &mut State, words: &[Bytes]) -> Outcome {
    range_of_places(state, words, Order::Falling)
}

enum Order {
    Rising,
    Falling,
}

fn range_of_places(state: &mut State, words: &[Bytes], order: Order) -> Outcome {
    let has_scores = match &words[3..] {
        [] => false,
        [word] if option(word) == "WITHSCORES" => true,
        _ => return fail(SYNTAX),
    };
    let places = Places::parse(&words[1], &words[2])?;
    let Some(set) = state.find::<SortedSet>(&words[0])? else {
        return Ok(Reply::Array(Vec::new()));
    };
    let places = places.of(set.len());
    let (skipped, count) = (places.start, places.len());
    Ok(match order {
        Order::Rising => members(set.iter().skip(skipped).take(count), has_scores),
        Order::Falling => members(set.iter().rev().skip(skipped).take(count), has_scores),
    })
}

pub(super) fn zrangebyscore(state: &mut State, words: &[Bytes]) -> Outcome {
    let (mut has_scores, mut skipped, mut most) = (false, 0, -1);
    let mut options = &words[3..];
    while let [word, rest @ ..] = options {
        options = match (&*option(word), rest) {
            ("WITHSCORES", rest) => {
                has_scores = true;
                rest
            }
            ("LIMIT", [first, count, rest @ ..]) => {
                (skipped, most) = (integer(first)?, integer(count)?);
                rest
            }
            _ => return fail(SYNTAX),
        };
    }
    let range = Scores::parse(&words[1], &words[2])?;
    let set = state.find::<SortedSet>(&words[0])?;
    // Nothing is behind a negative place. A negative count is no limit.
    let (Some(set), Ok(skipped)) = (set, usize::try_from(skipped)) else {
        return Ok(Reply::Array(Vec::new()));
    };
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let found = range.of(set).skip(skipped).take(most);
    Ok(members(found, has_scores))
}

pub(super) fn zcount(state: &mut State, words: &[Bytes]) -> Outcome {
    let range = Scores::parse(&words[1], &words[2])?;
    let set = state.find::<SortedSet>(&words[0])?;
    Ok(Reply::count(set.map_or(0, |set| range.of(set).count())))
}

pub(super) fn zremrangebyscore(state: &mut State, words: &[Bytes]) -> Outcome {
    let range = Scores::parse(&words[1], &words[2])?;
    let Some(set) = state.find::<SortedSet>(&words[0])? else {
        return Ok(Reply::count(0));
    };
    let found: Vec<Bytes> = range.of(set).map(|(member, _)| member.clone()).collect();
    for member in &found {
        set.remove(member);
    }
    state.remove_if_empty(&words[0]);
    Ok(Reply::count(found.len()))
}

fn members<'a>(found: impl Iterator<Item = (&'a Bytes, f64)>, has_scores: bool) -> Reply {
    let mut parts = Vec::new();
    for (member, score) in found {
        parts.push(Reply::Bulk(member.clone()));
        if has_scores {
            parts.push(double(score));
        }
    }
    Reply::Array(parts)
}

/// A range of scores.
struct Scores {
    least: Bound,
    most: Bound,
}

struct Bound {
    score: f64,
    /// Whether the score itself is outside.
    is_open: bool,
}

impl Scores {
    fn parse(least: &[u8], most: &[u8]) -> Result<Self, Reply> {
        let (least, most) = (Bound::parse(least)?, Bound::parse(most)?);
        Ok(Self { least, most })
    }

    fn has(&self, score: f64) -> bool {
        let Self { least, most } = self;
        let is_above = score > least.score || score == least.score && !least.is_open;
        let is_below = score < most.score || score == most.score && !most.is_open;
        is_above && is_below
    }

    fn of<'a>(&'a self, set: &'a SortedSet) -> impl Iterator<Item = (&'a Bytes, f64)> {
        set.iter().filter(|&(_, score)| self.has(score))
    }
}

impl Bound {
    fn parse(text: &[u8]) -> Result<Self, Reply> {
        let open = text.strip_prefix(b"(");
        let score = match open.unwrap_or(text) {
            [] => 0.0,
            text => float(text).or_else(|_| fail("ERR min or max is not a float"))?,
        };
        let is_open = open.is_some();
        Ok(Self { score, is_open })
    }
}
