//! Reasons to refuse a key.

use std::fmt;

/// The longest key, in bytes, without the client's prefix.
pub(crate) const MAX_KEY_LEN: usize = 512;

/// Why a key cannot be locked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum KeyProblem {
    Empty,
    /// The call names no key.
    Missing,
    TooLong {
        bytes: usize,
    },
    EmptyValue {
        placeholder: Option<&'static str>,
    },
    Unprintable {
        placeholder: Option<&'static str>,
    },
    EmptyTag,
    CloseWithoutTag,
    ReservedSuffix(&'static str),
    /// With the prefix, the key is a hash tag and nothing else.
    TagAlone,
    /// With the prefix, the key is the name of a record that is not a lock.
    ReservedName,
    /// Text, not a template, that contains this `<placeholder>`.
    Template(Box<str>),
}

impl fmt::Display for KeyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyProblem::Empty => f.write_str("the key is empty"),
            KeyProblem::Missing => f.write_str("`keys` needs at least one key"),
            KeyProblem::TooLong { bytes } => write!(
                f,
                "the key is {bytes} bytes long, but at most {MAX_KEY_LEN} are allowed; lock a shorter identifier, or a hash of it"
            ),
            KeyProblem::EmptyValue {
                placeholder: Some(name),
            } => write!(f, "the value of `<{name}>` in the key is empty"),
            KeyProblem::EmptyValue { placeholder: None } => {
                f.write_str("a value in the key is empty")
            }
            KeyProblem::Unprintable {
                placeholder: Some(name),
            } => write!(f, "the value of `<{name}>` in the key could not be formatted"),
            KeyProblem::Unprintable { placeholder: None } => {
                f.write_str("a value in the key could not be formatted")
            }
            KeyProblem::EmptyTag => f.write_str(
                "the key has an empty hash tag `{}`, which Redis Cluster ignores; write something between the braces",
            ),
            KeyProblem::CloseWithoutTag => f.write_str(
                "the key has a `}` without a hash tag before it; write `{tag}`, or leave the brace out",
            ),
            KeyProblem::ReservedSuffix(suffix) => write!(
                f,
                "a key with a hash tag cannot end in `{suffix}`, the suffix of another lock's record"
            ),
            KeyProblem::TagAlone => f.write_str(
                "the key is only a hash tag, and would share records with the key without the braces; give the client a prefix, or add text outside the tag",
            ),
            KeyProblem::ReservedName => f.write_str(
                "with the client's prefix, the key names an audit, a quorum's marker or a Redisson queue; choose another",
            ),
            KeyProblem::Template(name) => write!(
                f,
                "the key contains the text `<{name}>`, but only a string literal in the attribute is a template; write it there, or build a `String` if you mean the text"
            ),
        }
    }
}
