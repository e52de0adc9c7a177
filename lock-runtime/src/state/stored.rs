//! Tokens and keys in a program's own JSON, messages and records: written, and read back.

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::key::LockKey;
use crate::lease::fencing_token::FencingToken;

impl Serialize for FencingToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.get())
    }
}

impl<'de> Deserialize<'de> for FencingToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FencingToken, D::Error> {
        let number = u64::deserialize(deserializer)?;
        FencingToken::try_from(number).map_err(|_| D::Error::custom("a token is below 2^63"))
    }
}

/// Refuses a key that cannot be locked because of how it was written: its text alone would be a usable key.
impl Serialize for LockKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.problem() {
            None => serializer.serialize_str(self.as_str()),
            Some(problem) => Err(S::Error::custom(problem)),
        }
    }
}

impl<'de> Deserialize<'de> for LockKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<LockKey, D::Error> {
        String::deserialize(deserializer).map(LockKey::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;
    use crate::key::KeyWriter;

    #[test]
    fn token_and_key_are_read_back() {
        let token = FencingToken::try_from(1_700_000_000_000_016_u64).unwrap();
        assert_eq!(to_value(token).unwrap(), json!(1_700_000_000_000_016_u64));
        assert_eq!(
            from_value::<FencingToken>(to_value(token).unwrap()).unwrap(),
            token
        );
        let key = LockKey::from("order:42");
        assert_eq!(to_value(&key).unwrap(), json!("order:42"));
        assert_eq!(from_value::<LockKey>(json!("order:42")).unwrap(), key);
    }

    #[test]
    fn number_that_is_no_token_is_refused() {
        for number in [json!(-1), json!(u64::MAX), json!("1"), json!(1.5)] {
            assert!(from_value::<FencingToken>(number).is_err());
        }
    }

    #[test]
    fn key_with_a_problem_does_not_become_a_usable_one() {
        let mut key = KeyWriter::new();
        key.text("order:").part("");
        let error = to_value(key.finish()).unwrap_err();
        assert!(error.to_string().contains("empty"), "{error}");
    }
}
