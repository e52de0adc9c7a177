//! The identity of an owner, which the server stores and compares.

use std::fmt;

use crate::background::random;
use crate::error::LockError;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// 48 random bits that identify one client of this process, and the channel on which it is woken. A client draws new
/// bits for each connection.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientId([u8; ClientId::LEN]);

impl ClientId {
    /// Characters of a client id, base64url: 48 bits.
    pub(crate) const LEN: usize = 8;

    pub(crate) fn random() -> Result<ClientId, LockError> {
        Ok(ClientId::from_random(random::bytes()?))
    }

    pub(crate) fn from_random(random: [u8; 6]) -> ClientId {
        ClientId(base64url(&random))
    }

    pub(crate) fn as_str(&self) -> &str {
        ascii(&self.0)
    }
}

impl fmt::Debug for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientId({})", self.as_str())
    }
}

/// The identity of one acquisition, 132 bits: the client id, then 84 random bits that are never used twice.
///
/// An owner id is never logged whole: any program that knows it can release the lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct OwnerId([u8; OwnerId::LEN]);

/// The part of an owner id that distinguishes the owners of one client.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AcquisitionId([u8; OwnerId::LEN - ClientId::LEN]);

impl fmt::Debug for AcquisitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AcquisitionId(…)")
    }
}

impl OwnerId {
    /// Characters of an owner id, base64url: 132 bits.
    pub(crate) const LEN: usize = 22;

    /// Creates an owner id. Only the first 84 of the 88 random bits fit the remaining 14 characters.
    pub(crate) fn from_random(process: ClientId, random: [u8; 11]) -> OwnerId {
        let mut owner = [0; OwnerId::LEN];
        owner[..ClientId::LEN].copy_from_slice(&process.0);
        let acquisition: [u8; OwnerId::LEN - ClientId::LEN] = base64url(&random);
        owner[ClientId::LEN..].copy_from_slice(&acquisition);
        OwnerId(owner)
    }

    /// Returns the owner id at the start of `text`, if there is one.
    pub(crate) fn parse_prefix(text: &[u8]) -> Option<OwnerId> {
        let owner: [u8; OwnerId::LEN] = text.get(..OwnerId::LEN)?.try_into().ok()?;
        owner
            .iter()
            .all(|&c| is_letter(c))
            .then_some(OwnerId(owner))
    }

    pub(crate) fn as_str(&self) -> &str {
        ascii(&self.0)
    }

    /// Like `as_str`, but does not check each character.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the last 63 random bits, as a number that fits a Java type.
    pub(crate) fn number(&self) -> u64 {
        let six = |character: &u8| ALPHABET.iter().position(|other| other == character);
        let bits = self.0[ClientId::LEN..].iter().filter_map(six);
        bits.fold(0, |number: u64, six| number << 6 | six as u64) >> 1
    }

    /// Returns the client that drew the id.
    pub(crate) fn process(&self) -> ClientId {
        let mut process = [0; ClientId::LEN];
        process.copy_from_slice(&self.0[..ClientId::LEN]);
        ClientId(process)
    }

    /// Returns the owner id without the client: shorter, for maps of one client's owners.
    pub(crate) fn acquisition(&self) -> AcquisitionId {
        let mut acquisition = [0; OwnerId::LEN - ClientId::LEN];
        acquisition.copy_from_slice(&self.0[ClientId::LEN..]);
        AcquisitionId(acquisition)
    }
}

impl fmt::Debug for OwnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnerId({}…)", ascii(&self.0[..ClientId::LEN]))
    }
}

fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("base64url is ASCII")
}

/// Returns the first `N` characters of `bytes` in base64url; `bytes` must hold at least 6 × `N` bits.
fn base64url<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut text = [0; N];
    for (index, character) in text.iter_mut().enumerate() {
        let bit = index * 6;
        let high = u16::from(bytes[bit / 8]) << 8;
        let low = bytes.get(bit / 8 + 1).map_or(0, |&byte| u16::from(byte));
        let six = ((high | low) >> (10 - bit % 8)) & 0b11_1111;
        *character = ALPHABET[usize::from(six)];
    }
    text
}

/// Returns whether a character is in the alphabet, without a search, since listings parse many ids.
fn is_letter(character: u8) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_base64url() {
        // "Man" is the example of RFC 4648; 0xfb 0xff needs both characters that are not letters.
        assert_eq!(&base64url::<4>(b"Man"), b"TWFu");
        assert_eq!(&base64url::<2>(&[0xfb, 0xff]), b"-_");
    }

    #[test]
    fn each_of_the_84_bits_counts() {
        let process = ClientId::from_random([0; 6]);
        let zero = OwnerId::from_random(process, [0; 11]);
        for bit in 0..84 {
            let mut random = [0; 11];
            random[bit / 8] = 0x80 >> (bit % 8);
            assert_ne!(OwnerId::from_random(process, random), zero, "bit {bit}");
        }
    }

    #[test]
    fn number_has_63_of_the_random_bits() {
        let process = ClientId::from_random([0; 6]);
        let number = |random| OwnerId::from_random(process, random).number();
        assert_eq!(number([0; 11]), 0);
        let counts = |bit: &usize| {
            let mut random = [0; 11];
            random[bit / 8] = 0x80 >> (bit % 8);
            number(random) != number([0; 11])
        };
        assert_eq!((0..84).filter(counts).count(), 63);
        assert!(number([0xff; 11]) <= i64::MAX as u64);
    }

    #[test]
    fn owner_id_starts_with_its_client_and_is_parsed_again() {
        let process = ClientId::from_random([1, 2, 3, 4, 5, 6]);
        let owner = OwnerId::from_random(process, [7; 11]);
        assert!(owner.as_str().starts_with(process.as_str()));
        let push = format!("{}lock:order:42", owner.as_str());
        assert_eq!(OwnerId::parse_prefix(push.as_bytes()), Some(owner));
        assert_eq!(OwnerId::parse_prefix(b"too short"), None);
        assert_eq!(OwnerId::parse_prefix(b"not base64url: ::::::::::"), None);
    }

    #[test]
    fn debug_shows_only_the_client() {
        let owner = OwnerId::from_random(ClientId::from_random([9; 6]), [7; 11]);
        let shown = format!("{owner:?}");
        assert!(!shown.contains(&owner.as_str()[ClientId::LEN..]), "{shown}");
    }
}
