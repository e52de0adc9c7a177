//! Commands on streams.

use super::numbers::integer;
use super::{SYNTAX, option, wrong_count};
use crate::reply::{Outcome, Reply, fail};
use crate::state::State;
use crate::value::{Bytes, Stream, StreamId};

const WRONG_ID: &str = "ERR Invalid stream ID specified as stream command argument";

/// Only with ids that the server chooses.
pub(super) fn xadd(state: &mut State, words: &[Bytes]) -> Outcome {
    let (key, words) = (&words[0], &words[1..]);
    let (kept, words) = match words {
        [name, rest @ ..] if option(name) == "MAXLEN" => {
            let (kept, rest) = max_length(rest)?;
            (Some(kept), rest)
        }
        words => (None, words),
    };
    let fields = match words {
        [id, fields @ ..] if id == b"*" => fields,
        _ => return fail(WRONG_ID),
    };
    if fields.is_empty() || fields.len() % 2 != 0 {
        return fail(wrong_count("xadd"));
    }
    let now = state.now_ms().unsigned_abs();
    let stream = state.find_or_create::<Stream>(key)?;
    let id = stream.last.next(now);
    stream.last = id;
    stream.entries.push_back((id, fields.to_vec()));
    if let Some(kept) = kept {
        let surplus = stream.entries.len().saturating_sub(kept);
        stream.entries.drain(..surplus);
    }
    Ok(id.reply())
}

/// How many entries are kept, and the words behind it. `~` permits a server to keep more; the fake does not.
fn max_length(words: &[Bytes]) -> Result<(usize, &[Bytes]), Reply> {
    let words = match words {
        [sign, rest @ ..] if sign == b"=" || sign == b"~" => rest,
        words => words,
    };
    let [number, rest @ ..] = words else {
        return fail(SYNTAX);
    };
    match usize::try_from(integer(number)?) {
        Ok(kept) => Ok((kept, rest)),
        Err(_) => fail("ERR The MAXLEN argument must be >= 0."),
    }
}

impl StreamId {
    /// The id of the next entry. A clock that goes back does not lower it.
    fn next(self, now_ms: u64) -> Self {
        if now_ms > self.ms {
            Self {
                ms: now_ms,
                number: 0,
            }
        } else {
            Self {
                number: self.number + 1,
                ..self
            }
        }
    }

    fn reply(self) -> Reply {
        Reply::text(format!("{}-{}", self.ms, self.number))
    }
}

pub(super) fn xlen(state: &mut State, words: &[Bytes]) -> Outcome {
    let stream = state.find::<Stream>(&words[0])?;
    Ok(Reply::count(
        stream.map_or(0, |stream| stream.entries.len()),
    ))
}

/// Only from the first to the last.
pub(super) fn xrange(state: &mut State, words: &[Bytes]) -> Outcome {
    if words[1..3] != [b"-", b"+"] {
        return fail(WRONG_ID);
    }
    let most = match &words[3..] {
        [] => usize::MAX,
        [name, number] if option(name) == "COUNT" => usize::try_from(integer(number)?).unwrap_or(0),
        _ => return fail(SYNTAX),
    };
    let Some(stream) = state.find::<Stream>(&words[0])? else {
        return Ok(Reply::Array(Vec::new()));
    };
    if most == 0 {
        return Ok(Reply::Nil);
    }
    let reply = |(id, fields): &(StreamId, Vec<Bytes>)| {
        Reply::Array(vec![id.reply(), Reply::bulks(fields.iter().cloned())])
    };
    Ok(Reply::Array(
        stream.entries.iter().take(most).map(reply).collect(),
    ))
}
