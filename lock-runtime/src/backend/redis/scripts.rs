//! The scripts, and the meaning of their answers.

use std::sync::LazyLock;
use std::time::Duration;

use redis::Value;

use super::command::{Argument, CommandHeader};
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::{AcquireReply, EndReply, Waiting};
use crate::control;
use crate::key::{Record, RecordNames};
use crate::lease::Mode;
use crate::lease::record::{Grant, Holder};

/// A script, as the two headers that its calls begin with.
pub(super) struct Script {
    /// The records that are its KEYS, in their order.
    records: &'static [Record],
    by_digest: CommandHeader,
    by_source: CommandHeader,
}

/// The scripts of one mode.
pub(super) struct Scripts {
    pub(super) acquire: Script,
    pub(super) renew: Script,
    pub(super) release: Script,
    pub(super) end: Script,
}

impl Scripts {
    pub(super) fn of(mode: Mode) -> &'static Scripts {
        match mode {
            Mode::Exclusive | Mode::Write | Mode::Share(_) => &EXCLUSIVE,
        }
    }
}

static EXCLUSIVE: LazyLock<Scripts> = LazyLock::new(|| Scripts {
    acquire: Script::new(
        &[Record::Lock, Record::Fence, Record::Queue],
        concat!(
            include_str!("lua/take.lua"),
            include_str!("lua/grant.lua"),
            include_str!("lua/acquire.lua")
        ),
    ),
    renew: Script::new(&[Record::Lock], include_str!("lua/renew.lua")),
    release: Script::new(&[Record::Lock], include_str!("lua/release.lua")),
    end: Script::new(
        &[Record::Lock, Record::Fence, Record::Queue],
        concat!(include_str!("lua/grant.lua"), include_str!("lua/end.lua")),
    ),
});

impl Script {
    fn new(records: &'static [Record], source: &str) -> Script {
        let source = &control::without_removed(source);
        let keys = i64::try_from(records.len()).unwrap_or(i64::MAX);
        let header = |command, script| {
            CommandHeader::new(&[
                Argument::Text(command),
                Argument::Text(script),
                Argument::Number(keys),
            ])
        };
        Script {
            records,
            by_digest: header("EVALSHA", redis::Script::new(source).get_hash()),
            by_source: header("EVAL", source),
        }
    }

    /// Appends a call for the lock with these names.
    ///
    /// A call by digest is short, and answered with NOSCRIPT by a server that lacks the script. A call `by_source`
    /// carries the script, which the server has from then on.
    pub(super) fn write(
        &self,
        output: &mut Vec<u8>,
        by_source: bool,
        names: &RecordNames,
        arguments: &[Argument<'_>],
    ) {
        let header = if by_source {
            &self.by_source
        } else {
            &self.by_digest
        };
        let records = self.records.iter();
        let keys = records.map(|&record| Argument::Name(names.of(record)));
        header.write(output, keys, arguments);
    }
}

pub(super) fn parse_acquire_reply(value: Value) -> Result<AcquireReply, WireError> {
    match value {
        Value::Array(parts) => match <[Value; 3]>::try_from(parts) {
            Ok(
                [
                    Value::Int(remaining),
                    Value::Int(position),
                    Value::BulkString(holder),
                ],
            ) => {
                Ok(AcquireReply::Waiting(Waiting {
                    // −1 stands for a key that does not expire.
                    remaining: u64::try_from(remaining).ok().map(Duration::from_millis),
                    position: u32::try_from(position).unwrap_or(u32::MAX),
                    holder: Holder::parse(&holder),
                }))
            }
            _ => Err(unknown_answer("acquire")),
        },
        value => parse_grant(&value)
            .map(AcquireReply::Granted)
            .ok_or_else(|| unknown_answer("acquire")),
    }
}

pub(super) fn parse_renew_reply(value: &Value) -> Result<Option<Grant>, WireError> {
    match value {
        Value::Nil => Ok(None),
        value => parse_grant(value)
            .map(Some)
            .ok_or_else(|| unknown_answer("renew")),
    }
}

pub(super) fn parse_release_reply(value: &Value) -> Result<EndReply, WireError> {
    match value {
        Value::Int(1) => Ok(EndReply::Freed),
        Value::Int(2) => Ok(EndReply::Contended),
        Value::Int(0 | -1) => Ok(EndReply::NotOurs),
        _ => Err(unknown_answer("release")),
    }
}

pub(super) fn parse_end_reply(value: &Value) -> Result<EndReply, WireError> {
    match value {
        Value::Int(1) => Ok(EndReply::Freed),
        Value::Int(2) => Ok(EndReply::HandedOff),
        Value::Int(3) => Ok(EndReply::LeftQueue),
        Value::Int(0 | -1) => Ok(EndReply::NotOurs),
        value => parse_grant(value)
            .map(EndReply::SuccessorHolds)
            .ok_or_else(|| unknown_answer("end")),
    }
}

fn parse_grant(value: &Value) -> Option<Grant> {
    match value {
        Value::BulkString(text) => Grant::parse(text),
        _ => None,
    }
}

/// The error does not contain the answer, which may contain an owner id.
fn unknown_answer(script: &str) -> WireError {
    WireError::refused(format!(
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
    fn acquire_reply_is_a_grant_or_a_position() {
        let Ok(AcquireReply::Granted(grant)) = parse_acquire_reply(text("+0000000000000016"))
        else {
            panic!()
        };
        assert!(grant.contended);
        let waiting = Value::Array(vec![Value::Int(250), Value::Int(3), text("foreign")]);
        let Ok(AcquireReply::Waiting(waiting)) = parse_acquire_reply(waiting) else {
            panic!()
        };
        assert_eq!(
            (waiting.remaining, waiting.position),
            (Some(Duration::from_millis(250)), 3)
        );
        let without_ttl = Value::Array(vec![Value::Int(-1), Value::Int(0), text("foreign")]);
        let Ok(AcquireReply::Waiting(waiting)) = parse_acquire_reply(without_ttl) else {
            panic!()
        };
        assert_eq!(waiting.remaining, None);
    }

    #[test]
    fn unknown_answer_is_refused_and_not_shown() {
        for value in [
            Value::Nil,
            Value::Int(7),
            text("secret"),
            Value::Array(vec![text("secret")]),
        ] {
            for error in [
                parse_acquire_reply(value.clone()).err(),
                parse_release_reply(&value).err(),
                parse_end_reply(&value).err(),
            ] {
                let error = error.expect("an error").to_string();
                assert!(!error.contains("secret"), "{error}");
            }
        }
    }
}
