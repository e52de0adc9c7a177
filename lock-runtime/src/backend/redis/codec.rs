//! Reads RESP3: the values at the start of what has arrived.
//!
//! The types are the client library's. What is rare and has no values inside, such as an error, is
//! left to its parser, which takes whole values only.

use redis::{PushKind, Value};

/// A value may be nested so deep; the client library's parser has the same limit.
const DEEPEST: usize = 100;

/// A value that is longer is not waited for. Nothing that a server is asked has so long an answer, and
/// an incomplete value is read from its start each time that more of it arrives.
const LONGEST: usize = 1 << 20;

/// What was read is not RESP3, or too long.
#[derive(Debug)]
pub(super) struct Malformed;

/// The first value of `bytes` and its length; `None` if it is not complete.
pub(super) fn decode(bytes: &[u8]) -> Result<Option<(Value, usize)>, Malformed> {
    let mut reader = Decoder { bytes, at: 0 };
    match reader.value(1) {
        Ok(value) => Ok(Some((value, reader.at))),
        Err(Stop::Incomplete) if bytes.len() < LONGEST => Ok(None),
        Err(_) => Err(Malformed),
    }
}

/// Why there is no value.
enum Stop {
    Incomplete,
    Malformed,
}

struct Decoder<'a> {
    bytes: &'a [u8],
    /// Where the next one begins.
    at: usize,
}

impl<'a> Decoder<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, Stop> {
        let start = self.at;
        let kind = self.take(1)?[0];
        if depth > DEEPEST {
            return Err(Stop::Malformed);
        }
        match kind {
            b'+' => Ok(match self.text()? {
                "OK" => Value::Okay,
                text => Value::SimpleString(text.to_owned()),
            }),
            b':' => self.number().map(Value::Int),
            b'$' => match usize::try_from(self.number()?) {
                Ok(length) => self
                    .block(length)
                    .map(|text| Value::BulkString(text.into())),
                Err(_) => Ok(Value::Nil),
            },
            b'_' => self.text().map(|_| Value::Nil),
            b'*' => Ok(self.values(depth)?.map_or(Value::Nil, Value::Array)),
            b'~' => Ok(self.values(depth)?.map_or(Value::Nil, Value::Set)),
            b'%' => {
                let length = self.length()?;
                self.pairs(length, depth).map(Value::Map)
            }
            b'|' => {
                let length = self.length()?;
                let attributes = self.pairs(length, depth)?;
                let data = Box::new(self.value(depth + 1)?);
                Ok(Value::Attribute { data, attributes })
            }
            b'>' => push(self.values(depth)?.unwrap_or_default()),
            b'-' | b',' | b'#' | b'(' => {
                self.text()?;
                self.others(start)
            }
            b'!' | b'=' => {
                let length = self.length()?;
                self.block(length)?;
                self.others(start)
            }
            _ => Err(Stop::Malformed),
        }
    }

    /// The client library reads what began at `start` and ends here.
    fn others(&self, start: usize) -> Result<Value, Stop> {
        redis::parse_redis_value(&self.bytes[start..self.at]).map_err(|_| Stop::Malformed)
    }

    /// `None` if there is nothing instead of none.
    fn values(&mut self, depth: usize) -> Result<Option<Vec<Value>>, Stop> {
        let Ok(length) = usize::try_from(self.number()?) else {
            return Ok(None);
        };
        let mut values = Vec::with_capacity(length.min(self.left()));
        for _ in 0..length {
            values.push(self.value(depth + 1)?);
        }
        Ok(Some(values))
    }

    fn pairs(&mut self, length: usize, depth: usize) -> Result<Vec<(Value, Value)>, Stop> {
        let mut pairs = Vec::with_capacity(length.min(self.left()));
        for _ in 0..length {
            pairs.push((self.value(depth + 1)?, self.value(depth + 1)?));
        }
        Ok(pairs)
    }

    /// So many bytes, and the end of their line.
    fn block(&mut self, length: usize) -> Result<&'a [u8], Stop> {
        if length > LONGEST {
            return Err(Stop::Malformed);
        }
        let block = self.take(length)?;
        match self.take(2)? {
            b"\r\n" => Ok(block),
            _ => Err(Stop::Malformed),
        }
    }

    fn length(&mut self) -> Result<usize, Stop> {
        usize::try_from(self.number()?).map_err(|_| Stop::Malformed)
    }

    fn number(&mut self) -> Result<i64, Stop> {
        self.text()?.trim().parse().map_err(|_| Stop::Malformed)
    }

    /// The rest of a line.
    fn text(&mut self) -> Result<&'a str, Stop> {
        let rest = &self.bytes[self.at..];
        let end = rest.windows(2).position(|end| end == b"\r\n");
        let line = &rest[..end.ok_or(Stop::Incomplete)?];
        self.at += line.len() + 2;
        str::from_utf8(line).map_err(|_| Stop::Malformed)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Stop> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..length).ok_or(Stop::Incomplete)?;
        self.at += length;
        Ok(taken)
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }
}

/// A push, from its kind and its data.
fn push(mut values: Vec<Value>) -> Result<Value, Stop> {
    if values.is_empty() {
        let kind = PushKind::Other(String::new());
        return Ok(Value::Push { kind, data: values });
    }
    let kind = match values.remove(0) {
        Value::BulkString(kind) => String::from_utf8(kind).map_err(|_| Stop::Malformed)?,
        Value::SimpleString(kind) => kind,
        _ => return Err(Stop::Malformed),
    };
    let kind = match kind.as_str() {
        "message" => PushKind::Message,
        "subscribe" => PushKind::Subscribe,
        "unsubscribe" => PushKind::Unsubscribe,
        "pmessage" => PushKind::PMessage,
        "smessage" => PushKind::SMessage,
        "punsubscribe" => PushKind::PUnsubscribe,
        "sunsubscribe" => PushKind::SUnsubscribe,
        "psubscribe" => PushKind::PSubscribe,
        "ssubscribe" => PushKind::SSubscribe,
        "invalidate" => PushKind::Invalidate,
        _ => PushKind::Other(kind),
    };
    Ok(Value::Push { kind, data: values })
}

#[cfg(test)]
mod tests;
