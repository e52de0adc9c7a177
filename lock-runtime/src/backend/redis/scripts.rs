//! The scripts, and how their answers read.

use std::sync::LazyLock;
use std::time::Duration;

use redis::{Script, Value};

use super::command::{Head, Word};
use crate::backend::wire::{Acquired, Ended, Fault, Waiting};
use crate::control;
use crate::lease::record::{Grant, Holder};

/// A script: the words that its calls begin with.
pub(super) struct Lua {
    by_digest: Head,
    by_source: Head,
}

pub(super) static ACQUIRE: LazyLock<Lua> = LazyLock::new(|| {
    Lua::new(
        concat!(
            include_str!("lua/take.lua"),
            include_str!("lua/grant.lua"),
            include_str!("lua/acquire.lua")
        ),
        3,
    )
});
pub(super) static END: LazyLock<Lua> = LazyLock::new(|| {
    Lua::new(
        concat!(include_str!("lua/grant.lua"), include_str!("lua/end.lua")),
        3,
    )
});
pub(super) static RENEW: LazyLock<Lua> =
    LazyLock::new(|| Lua::new(include_str!("lua/renew.lua"), 1));
pub(super) static RELEASE: LazyLock<Lua> =
    LazyLock::new(|| Lua::new(include_str!("lua/release.lua"), 1));

impl Lua {
    fn new(source: &str, keys: i64) -> Lua {
        let source = &control::without_removed(source);
        let head = |command, script| {
            Head::new(&[Word::Text(command), Word::Text(script), Word::Number(keys)])
        };
        Lua {
            by_digest: head("EVALSHA", Script::new(source).get_hash()),
            by_source: head("EVAL", source),
        }
    }

    /// Appends a call with these keys and arguments: by digest, which is short, and refused with NOSCRIPT
    /// by a server that has not seen the script; or, if `whole`, with its text, after which the server
    /// knows it.
    pub(super) fn write(&self, output: &mut Vec<u8>, whole: bool, words: &[Word<'_>]) {
        let head = if whole {
            &self.by_source
        } else {
            &self.by_digest
        };
        head.write(output, words);
    }
}

pub(super) fn millis(ttl: Duration) -> i64 {
    i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn acquired(value: Value) -> Result<Acquired, Fault> {
    match value {
        Value::Array(parts) => match <[Value; 3]>::try_from(parts) {
            Ok(
                [
                    Value::Int(remaining),
                    Value::Int(position),
                    Value::BulkString(holder),
                ],
            ) => {
                Ok(Acquired::Waiting(Waiting {
                    // Redis says −1 of a key that does not expire.
                    remaining: u64::try_from(remaining).ok().map(Duration::from_millis),
                    position: u32::try_from(position).unwrap_or(u32::MAX),
                    holder: Holder::parse(&holder),
                }))
            }
            _ => Err(strange("acquire")),
        },
        value => grant(&value)
            .map(Acquired::Held)
            .ok_or_else(|| strange("acquire")),
    }
}

pub(super) fn renewed(value: &Value) -> Result<Option<Grant>, Fault> {
    match value {
        Value::Nil => Ok(None),
        value => grant(value).map(Some).ok_or_else(|| strange("renew")),
    }
}

pub(super) fn released(value: &Value) -> Result<Ended, Fault> {
    match value {
        Value::Int(1) => Ok(Ended::Freed),
        Value::Int(2) => Ok(Ended::Contended),
        Value::Int(0 | -1) => Ok(Ended::NotOurs),
        _ => Err(strange("release")),
    }
}

pub(super) fn ended(value: &Value) -> Result<Ended, Fault> {
    match value {
        Value::Int(1) => Ok(Ended::Freed),
        Value::Int(2) => Ok(Ended::HandedOn),
        Value::Int(3) => Ok(Ended::Left),
        Value::Int(0 | -1) => Ok(Ended::NotOurs),
        value => grant(value)
            .map(Ended::Passed)
            .ok_or_else(|| strange("end")),
    }
}

fn grant(value: &Value) -> Option<Grant> {
    match value {
        Value::BulkString(text) => Grant::parse(text),
        _ => None,
    }
}

/// The value itself is left out: it may hold an owner.
fn strange(script: &str) -> Fault {
    Fault::refused(format!(
        "the script `{script}` gave an answer that this version does not know"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    #[test]
    fn acquire_answers_with_a_grant_or_a_place() {
        let Ok(Acquired::Held(grant)) = acquired(text("+0000000000000016")) else {
            panic!()
        };
        assert!(grant.contended);
        let place = Value::Array(vec![Value::Int(250), Value::Int(3), text("foreign")]);
        let Ok(Acquired::Waiting(waiting)) = acquired(place) else {
            panic!()
        };
        assert_eq!(
            (waiting.remaining, waiting.position),
            (Some(Duration::from_millis(250)), 3)
        );
        let for_ever = Value::Array(vec![Value::Int(-1), Value::Int(0), text("foreign")]);
        let Ok(Acquired::Waiting(waiting)) = acquired(for_ever) else {
            panic!()
        };
        assert_eq!(waiting.remaining, None);
    }

    #[test]
    fn an_unknown_answer_is_refused_and_not_shown() {
        for value in [
            Value::Nil,
            Value::Int(7),
            text("secret"),
            Value::Array(vec![text("secret")]),
        ] {
            for fault in [
                acquired(value.clone()).err(),
                released(&value).err(),
                ended(&value).err(),
            ] {
                let fault = fault.expect("an error").to_string();
                assert!(!fault.contains("secret"), "{fault}");
            }
        }
    }
}
