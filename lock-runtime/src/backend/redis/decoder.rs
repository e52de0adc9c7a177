//! Decodes RESP3 values that arrive in pieces.
//!
//! The values have the client library's types, but its parser takes only complete values. It still parses the rare
//! kinds without nested values, such as errors, once they are complete. Attributes are skipped: a server may put them before
//! any value.

use redis::{PushKind, Value};

/// The maximum nesting of values, as in the client library's parser.
const MAX_DEPTH: usize = 100;

/// An incomplete value of this many bytes is refused. No answer is that long, and an incomplete value is decoded again
/// from its start whenever more of it arrives.
const MAX_LENGTH: usize = 1 << 20;

/// The bytes are not RESP3, or the value is too long.
#[derive(Debug)]
pub(super) struct Malformed;

/// Decodes the first value of `bytes`, and returns its length, too. Returns `None` if the value is not complete.
pub(super) fn decode(bytes: &[u8]) -> Result<Option<(Value, usize)>, Malformed> {
    let mut decoder = Decoder { bytes, position: 0 };
    match decoder.value(1) {
        Ok(value) => Ok(Some((value, decoder.position))),
        Err(Stop::Incomplete) if bytes.len() < MAX_LENGTH => Ok(None),
        Err(_) => Err(Malformed),
    }
}

/// Returns the text of an answer.
pub(super) fn text(value: &Value) -> Option<&str> {
    match value {
        Value::SimpleString(text) => Some(text),
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// The reason that no value can be decoded.
enum Stop {
    Incomplete,
    Malformed,
}

struct Decoder<'a> {
    bytes: &'a [u8],
    /// The position of the next byte to decode.
    position: usize,
}

impl<'a> Decoder<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, Stop> {
        let start = self.position;
        let kind = self.bytes(1)?[0];
        if depth > MAX_DEPTH {
            return Err(Stop::Malformed);
        }
        match kind {
            b'+' => Ok(match self.line()? {
                "OK" => Value::Okay,
                text => Value::SimpleString(text.to_owned()),
            }),
            b':' => self.number().map(Value::Int),
            b'$' => match usize::try_from(self.number()?) {
                Ok(length) => self.bulk(length).map(|text| Value::BulkString(text.into())),
                Err(_) => Ok(Value::Nil),
            },
            b'_' => self.line().map(|_| Value::Nil),
            b'*' => Ok(self.values(depth)?.map_or(Value::Nil, Value::Array)),
            b'~' => Ok(self.values(depth)?.map_or(Value::Nil, Value::Set)),
            b'%' => {
                let length = self.length()?;
                self.pairs(length, depth).map(Value::Map)
            }
            b'|' => {
                // They come before the value that they are about, and no answer needs them.
                let length = self.length()?;
                self.pairs(length, depth)?;
                self.value(depth + 1)
            }
            b'>' => push(self.values(depth)?.unwrap_or_default()),
            b'-' | b',' | b'#' | b'(' => {
                self.line()?;
                self.parse_complete(start)
            }
            b'!' | b'=' => {
                let length = self.length()?;
                self.bulk(length)?;
                self.parse_complete(start)
            }
            _ => Err(Stop::Malformed),
        }
    }

    /// Parses the value from `start` to the current position with the client library.
    fn parse_complete(&self, start: usize) -> Result<Value, Stop> {
        redis::parse_redis_value(&self.bytes[start..self.position]).map_err(|_| Stop::Malformed)
    }

    /// Decodes a number, and then as many values. Returns `None` if the number is negative, which stands for a missing
    /// array.
    fn values(&mut self, depth: usize) -> Result<Option<Vec<Value>>, Stop> {
        let Ok(length) = usize::try_from(self.number()?) else {
            return Ok(None);
        };
        let mut values = Vec::with_capacity(length.min(self.remaining()));
        for _ in 0..length {
            values.push(self.value(depth + 1)?);
        }
        Ok(Some(values))
    }

    fn pairs(&mut self, length: usize, depth: usize) -> Result<Vec<(Value, Value)>, Stop> {
        let mut pairs = Vec::with_capacity(length.min(self.remaining()));
        for _ in 0..length {
            pairs.push((self.value(depth + 1)?, self.value(depth + 1)?));
        }
        Ok(pairs)
    }

    /// Returns the next `length` bytes, without the line end that follows them.
    fn bulk(&mut self, length: usize) -> Result<&'a [u8], Stop> {
        if length > MAX_LENGTH {
            return Err(Stop::Malformed);
        }
        let bulk = self.bytes(length)?;
        match self.bytes(2)? {
            b"\r\n" => Ok(bulk),
            _ => Err(Stop::Malformed),
        }
    }

    fn length(&mut self) -> Result<usize, Stop> {
        usize::try_from(self.number()?).map_err(|_| Stop::Malformed)
    }

    fn number(&mut self) -> Result<i64, Stop> {
        self.line()?.trim().parse().map_err(|_| Stop::Malformed)
    }

    /// Returns the remainder of the current line.
    fn line(&mut self) -> Result<&'a str, Stop> {
        let rest = &self.bytes[self.position..];
        let end = rest.windows(2).position(|end| end == b"\r\n");
        let line = &rest[..end.ok_or(Stop::Incomplete)?];
        self.position += line.len() + 2;
        str::from_utf8(line).map_err(|_| Stop::Malformed)
    }

    /// Returns the next `length` bytes.
    fn bytes(&mut self, length: usize) -> Result<&'a [u8], Stop> {
        let rest = &self.bytes[self.position..];
        let bytes = rest.get(..length).ok_or(Stop::Incomplete)?;
        self.position += length;
        Ok(bytes)
    }

    fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }
}

/// Creates a push. The first of its values is its kind.
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
