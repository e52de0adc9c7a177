//! Replies of the protocol's second version, RESP2.

use crate::value::Bytes;

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reply {
    /// No value.
    Nil,
    /// A number.
    Integer(i64),
    /// A status, such as `OK`.
    Status(Bytes),
    /// A text.
    Bulk(Bytes),
    /// Several replies.
    Array(Vec<Reply>),
    /// An error: its code word, a space and its text.
    Error(String),
}

/// What a command answers: an error, too, is a reply.
pub(crate) type Outcome = Result<Reply, Reply>;

/// Fails with this error.
pub(crate) fn fail<T>(text: impl Into<String>) -> Result<T, Reply> {
    Err(Reply::Error(text.into()))
}

impl Reply {
    pub(crate) fn ok() -> Self {
        Self::Status(b"OK".to_vec())
    }

    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        Self::Bulk(text.into())
    }

    pub(crate) fn count(count: usize) -> Self {
        Self::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }

    pub(crate) fn flag(is_so: bool) -> Self {
        Self::Integer(is_so.into())
    }

    /// A text, or nil.
    pub(crate) fn bulk_or_nil(text: Option<&Bytes>) -> Self {
        text.map_or(Self::Nil, |text| Self::Bulk(text.clone()))
    }

    /// Texts.
    pub(crate) fn bulks(texts: impl IntoIterator<Item = Bytes>) -> Self {
        Self::Array(texts.into_iter().map(Self::Bulk).collect())
    }

    /// Returns the code word of an error.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Error(text) => text.split(' ').next(),
            _ => None,
        }
    }

    /// Appends the reply as it is sent.
    pub fn write(&self, output: &mut Bytes) {
        match self {
            Self::Nil => write_line(output, b'$', b"-1"),
            Self::Integer(number) => write_line(output, b':', number.to_string().as_bytes()),
            Self::Status(text) => write_line(output, b'+', text),
            Self::Error(text) => write_line(output, b'-', text.as_bytes()),
            Self::Bulk(text) => {
                write_line(output, b'$', text.len().to_string().as_bytes());
                output.extend_from_slice(text);
                output.extend_from_slice(b"\r\n");
            }
            Self::Array(parts) => {
                write_line(output, b'*', parts.len().to_string().as_bytes());
                parts.iter().for_each(|part| part.write(output));
            }
        }
    }
}

/// A line ends with its text, so line breaks in the text become spaces.
fn write_line(output: &mut Bytes, kind: u8, text: &[u8]) {
    output.push(kind);
    output.extend(text.iter().map(|byte| match byte {
        b'\r' | b'\n' => b' ',
        byte => *byte,
    }));
    output.extend_from_slice(b"\r\n");
}
