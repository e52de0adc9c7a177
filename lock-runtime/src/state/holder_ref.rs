//! Identifies the holder to revoke.

use std::fmt;
use std::str::FromStr;

use crate::FencingToken;

/// Precedes the hash of a record in the text form.
const RECORD: &str = "record:";

/// Identifies the holder that an operator saw. A revocation does nothing if the lock has another holder by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HolderRef {
    /// The token of a holder that uses this crate, or of one of its local turns.
    Token(FencingToken),
    /// The record of a holder without a token: another program, or a holder that asked for none.
    Record(RecordHash),
}

impl From<FencingToken> for HolderRef {
    fn from(token: FencingToken) -> HolderRef {
        HolderRef::Token(token)
    }
}

impl From<RecordHash> for HolderRef {
    fn from(hash: RecordHash) -> HolderRef {
        HolderRef::Record(hash)
    }
}

/// Writes the token as a number, or `record:` and the hash.
impl fmt::Display for HolderRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HolderRef::Token(token) => write!(f, "{}", token.get()),
            HolderRef::Record(hash) => write!(f, "{RECORD}{hash}"),
        }
    }
}

/// Parses the [`Display`](fmt::Display) form, which an operator may have got from another process.
///
/// # Examples
///
/// ```
/// use lock_runtime::inspect::HolderRef;
///
/// let seen: HolderRef = "1700000000000016".parse()?;
/// assert_eq!(seen.to_string(), "1700000000000016");
/// assert!("order:42".parse::<HolderRef>().is_err());
/// # Ok::<(), lock_runtime::inspect::ParseHolderRefError>(())
/// ```
impl FromStr for HolderRef {
    type Err = ParseHolderRefError;

    fn from_str(text: &str) -> Result<HolderRef, ParseHolderRefError> {
        if let Some(hash) = text.strip_prefix(RECORD) {
            return hash.parse().map(HolderRef::Record);
        }
        let is_unsigned = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_unsigned);
        let token = number.map(FencingToken::new).map(HolderRef::Token);
        token.ok_or(ParseHolderRefError)
    }
}

impl HolderRef {
    pub(crate) fn token(self) -> Option<FencingToken> {
        match self {
            HolderRef::Token(token) => Some(token),
            HolderRef::Record(_) => None,
        }
    }
}

/// Tells holders without a token apart, by a hash of another program's record or of the owner in a record of this
/// crate. The record itself is not shown, since anyone who knows it can release the lock.
///
/// The text form is sixteen hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordHash(u64);

impl RecordHash {
    /// Hashes with FNV-1a, which is the same in every process and version: an operator may have got the hash from
    /// another one. The server then compares the whole record.
    pub(crate) fn of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> RecordHash {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        for part in parts {
            (part.len() as u64)
                .to_le_bytes()
                .into_iter()
                .for_each(&mut add);
            part.iter().copied().for_each(&mut add);
        }
        RecordHash(hash)
    }
}

impl fmt::Display for RecordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The error for a text that does not identify a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseHolderRefError;

impl fmt::Display for ParseHolderRefError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a holder is named by its token, or by `record:` and sixteen hexadecimal digits",
        )
    }
}

impl std::error::Error for ParseHolderRefError {}

impl FromStr for RecordHash {
    type Err = ParseHolderRefError;

    fn from_str(text: &str) -> Result<RecordHash, ParseHolderRefError> {
        let is_hexadecimal = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u64::from_str_radix(text, 16)
            .ok()
            .filter(|_| is_hexadecimal);
        number.map(RecordHash).ok_or(ParseHolderRefError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_read_from_its_own_text() {
        let hash = RecordHash::of([&b"a"[..], b"bc"]);
        assert_eq!(hash.to_string().parse(), Ok(hash));
        for wrong in [
            "",
            "12",
            "+123456789012345",
            "12345678901234567",
            "g234567890123456",
        ] {
            assert_eq!(
                wrong.parse::<RecordHash>(),
                Err(ParseHolderRefError),
                "{wrong}"
            );
        }
    }

    #[test]
    fn holder_is_read_from_its_own_text() {
        let token = HolderRef::Token(FencingToken::new(17));
        let record = HolderRef::Record(RecordHash::of([&b"a"[..]]));
        for seen in [token, record] {
            assert_eq!(seen.to_string().parse(), Ok(seen));
        }
        assert_eq!("0000000000000017".parse(), Ok(token));
        for wrong in [
            "",
            "+17",
            "17 ",
            "-1",
            "record:",
            "99999999999999999999",
            "17x",
        ] {
            assert_eq!(
                wrong.parse::<HolderRef>(),
                Err(ParseHolderRefError),
                "{wrong}"
            );
        }
    }

    #[test]
    fn records_are_distinguished_by_the_ends_of_their_parts() {
        assert_ne!(
            RecordHash::of([&b"a"[..], b"bc"]),
            RecordHash::of([&b"ab"[..], b"c"])
        );
        assert_ne!(RecordHash::of([&b""[..]]), RecordHash::of([]));
    }

    #[test]
    fn hash_stays_the_same_from_version_to_version() {
        assert_eq!(
            RecordHash::of([&b"foreign"[..]]).to_string(),
            "43f0c54d78468f82"
        );
    }
}
