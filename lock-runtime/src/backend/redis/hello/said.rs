//! Parses the properties that a server reports in its answer to HELLO.

use redis::Value;

use crate::backend::redis::address::Address;
use crate::backend::redis::decoder::text;
use crate::backend::wire::error::WireError;

/// A property of a server. Its words are those of Redis, Valkey and compatible services, in upper or lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Standalone,
    Cluster,
    Sentinel,
}

/// Servers that take each other's writes would both grant a lock. So an unknown role is not accepted just because it
/// sounds like a primary's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Primary,
    Replica,
}

impl Mode {
    pub(super) fn of(server: &Address, answer: &Value) -> Result<Option<Mode>, WireError> {
        said(server, answer, "mode", |mode| match mode {
            "standalone" => Some(Mode::Standalone),
            "cluster" => Some(Mode::Cluster),
            "sentinel" => Some(Mode::Sentinel),
            _ => None,
        })
    }
}

impl Role {
    pub(super) fn of(server: &Address, answer: &Value) -> Result<Option<Role>, WireError> {
        said(server, answer, "role", |role| match role {
            "master" | "primary" => Some(Role::Primary),
            "replica" | "slave" => Some(Role::Replica),
            _ => None,
        })
    }
}

/// Returns a property from the answer; `None` if the server omits it. Refuses an unknown word.
fn said<T>(
    server: &Address,
    answer: &Value,
    name: &str,
    known: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, WireError> {
    let Some(value) = value(answer, name) else {
        return Ok(None);
    };
    let word = text(value).unwrap_or_default();
    known(&word.to_ascii_lowercase()).map(Some).ok_or_else(|| {
        WireError::refused(format!(
            "{server} says that its {name} is `{}`, which is none of Redis's or Valkey's: whether it alone would grant a \
             lock is not known",
            plain(word)
        ))
    })
}

/// Returns the address of a replica's primary, from an answer to ROLE.
pub(super) fn primary(role: &Value) -> Option<String> {
    let Value::Array(fields) = role else {
        return None;
    };
    match fields.as_slice() {
        [role, host, Value::Int(port), ..] if matches!(text(role), Some("slave" | "replica")) => {
            Some(format!("{}:{port}", plain(text(host)?)))
        }
        _ => None,
    }
}

/// Returns up to 64 plain characters of a server's text.
pub(super) fn plain(text: &str) -> String {
    let plain = text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ');
    plain.take(64).collect()
}

pub(super) fn field<'a>(answer: &'a Value, name: &str) -> Option<&'a str> {
    value(answer, name).and_then(text)
}

fn value<'a>(answer: &'a Value, name: &str) -> Option<&'a Value> {
    let Value::Map(fields) = answer else {
        return None;
    };
    let mut fields = fields.iter();
    let named = fields.find(|(key, _)| text(key) == Some(name));
    named.map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<T>(
        kind: fn(&Address, &Value) -> Result<Option<T>, WireError>,
        name: &str,
        said: Value,
    ) -> Result<Option<T>, String> {
        let map = Value::Map(vec![(Value::SimpleString(name.to_owned()), said)]);
        let server = Address::Unix("/run/redis.sock".into());
        kind(&server, &map).map_err(|error| match error {
            WireError::Refused(detail) => detail.to_string(),
            WireError::Unavailable(detail) => panic!("unavailable: {detail}"),
        })
    }

    fn word(word: &str) -> Value {
        Value::BulkString(word.as_bytes().to_vec())
    }

    #[test]
    fn each_known_word_is_read_in_any_case_and_no_other() {
        for (said, mode) in [
            ("standalone", Mode::Standalone),
            ("cluster", Mode::Cluster),
            ("Cluster", Mode::Cluster),
            ("SENTINEL", Mode::Sentinel),
        ] {
            assert_eq!(of(Mode::of, "mode", word(said)), Ok(Some(mode)), "{said}");
        }
        for (said, role) in [
            ("master", Role::Primary),
            ("primary", Role::Primary),
            ("Master", Role::Primary),
            ("replica", Role::Replica),
            ("Replica", Role::Replica),
            ("slave", Role::Replica),
        ] {
            assert_eq!(of(Role::of, "role", word(said)), Ok(Some(role)), "{said}");
        }
        // The first two words are KeyDB's: its servers take each other's writes.
        for said in [
            "active-replica",
            "multi-master",
            "replica of",
            "master ",
            "",
        ] {
            let refused = of(Role::of, "role", word(said)).unwrap_err();
            let sentence = format!("/run/redis.sock says that its role is `{said}`, which");
            assert!(refused.starts_with(&sentence), "{refused}");
        }
        for said in ["proxy", "clustered", ""] {
            let refused = of(Mode::of, "mode", word(said)).unwrap_err();
            assert!(refused.contains(&format!("mode is `{said}`")), "{refused}");
        }
    }

    #[test]
    fn missing_answer_does_not_refuse_a_server() {
        assert_eq!(of(Role::of, "version", word("7")), Ok(None));
        let server = Address::Unix("/run/redis.sock".into());
        let none = Value::SimpleString("OK".to_owned());
        assert!(matches!(Mode::of(&server, &none), Ok(None)));
    }

    #[test]
    fn strange_word_is_shown_short_and_plain() {
        let refused = |said| of(Role::of, "role", said).unwrap_err();
        assert!(refused(word("a\r\n\u{1b}[31mb")).contains("`a[31mb`"));
        assert!(refused(word(&"x".repeat(1000))).len() < 300);
        assert!(refused(Value::Int(1)).contains("its role is ``"));
    }
}
