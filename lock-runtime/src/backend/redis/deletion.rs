//! Release by one command instead of a script, on a server that can compare a value and delete it.

use redis::{RedisError, Value};

use super::command::{self, Argument};
use crate::backend::wire::owner::QueueEntry;
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::uncontended;

/// A command that deletes a string if it has the value that the caller expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deletion {
    /// Valkey, from 9.0 on: `DELIFEQ key value`.
    DelIfEq,
    /// Redis, from 8.4 on: `DELEX key IFEQ value`.
    DelEx,
}

impl Deletion {
    /// The command of a server that calls itself `server` and has this version, major and minor.
    pub(super) fn of(server: &str, version: (u32, u32)) -> Option<Deletion> {
        match server {
            "valkey" if version >= (9, 0) => Some(Deletion::DelIfEq),
            "redis" if version >= (8, 4) => Some(Deletion::DelEx),
            _ => None,
        }
    }

    /// Appends the command that frees `lock` if its record is the one that `entry` got with `token`, and
    /// no waiter has set its flag.
    pub(super) fn write(
        self,
        output: &mut Vec<u8>,
        lock: Argument<'_>,
        entry: &QueueEntry,
        token: FencingToken,
    ) {
        let record = uncontended(entry.owner_id, &entry.label, token);
        let record = Argument::Text(&record);
        match self {
            Deletion::DelIfEq => command::write(output, &[Argument::Text("DELIFEQ"), lock, record]),
            Deletion::DelEx => {
                let condition = Argument::Text("IFEQ");
                command::write(output, &[Argument::Text("DELEX"), lock, condition, record]);
            }
        }
    }

    /// The answer in the words of `release.lua`. That nothing was deleted may mean a waiter, another holder
    /// or none: `end` finds out which, and does what is to be done.
    pub(super) fn answer(answer: Value) -> Value {
        match answer {
            Value::Int(0) => Value::Int(2),
            answer => answer,
        }
    }
}

/// Whether a server that answers so will never do it on this connection: it lacks the command, or its user
/// the right to it.
pub(super) fn is_missing(error: &RedisError) -> bool {
    let detail = error.detail().unwrap_or_default();
    error.code() == Some("NOPERM") || detail.contains("unknown command")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::owner_id::OwnerId;

    #[test]
    fn servers_have_it_from_some_version_on() {
        for (server, version, expected) in [
            ("valkey", (8, 1), None),
            ("valkey", (9, 0), Some(Deletion::DelIfEq)),
            ("valkey", (10, 0), Some(Deletion::DelIfEq)),
            ("redis", (7, 2), None),
            ("redis", (8, 3), None),
            ("redis", (8, 4), Some(Deletion::DelEx)),
            ("redis", (255, 255), Some(Deletion::DelEx)),
            ("another", (9, 0), None),
        ] {
            let found = Deletion::of(server, version);
            assert_eq!(found, expected, "{server} {version:?}");
        }
    }

    #[test]
    fn only_a_server_that_cannot_is_not_asked_again() {
        for (line, expected) in [
            (
                "NOPERM this user has no permissions to run the 'delifeq' command",
                true,
            ),
            (
                "ERR unknown command 'DELEX', with args beginning with: 'k'",
                true,
            ),
            (
                "WRONGTYPE Operation against a key holding the wrong kind of value",
                false,
            ),
            (
                "ERR Key should be of string type if conditions are specified",
                false,
            ),
            ("MISCONF Redis is configured to save RDB snapshots", false),
        ] {
            let answer = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
            let error = answer.extract_error().unwrap_err();
            assert_eq!(is_missing(&error), expected, "{line}");
        }
    }

    #[test]
    fn the_whole_record_is_compared() {
        let owner_id = OwnerId::parse_prefix(b"abcdefghABCDEFGH012345").unwrap();
        let entry = QueueEntry {
            owner_id,
            label: "api-7 ship".into(),
        };
        let words = |deletion: Deletion| {
            let mut packed = Vec::new();
            let token = FencingToken::new(123);
            deletion.write(&mut packed, Argument::Text("lock:k"), &entry, token);
            let packed = String::from_utf8(packed).unwrap();
            let words = packed.split("\r\n").skip(2).step_by(2);
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        let record = "abcdefghABCDEFGH012345 0000000000000123 api-7 ship";
        assert_eq!(words(Deletion::DelIfEq), ["DELIFEQ", "lock:k", record]);
        assert_eq!(words(Deletion::DelEx), ["DELEX", "lock:k", "IFEQ", record]);
    }
}
