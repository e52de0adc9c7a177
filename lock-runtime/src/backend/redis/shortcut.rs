//! Plain commands that replace a script in the common case, for a third of the work on the server.
//!
//! `SET NX` takes a free lock. A comparison with the whole record releases one, on servers with a command for
//! compare-and-delete. If the plain command did nothing, the script follows and finds out why.

use redis::{RedisError, Value};

use super::encoder::{self, Argument};
use crate::backend::wire::owner::QueueEntry;
use crate::lease::fencing_token::FencingToken;

/// A command that deletes a string if it has an expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deletion {
    /// `DELIFEQ key value`: Valkey from 9.0 on.
    DelIfEq,
    /// `DELEX key IFEQ value`: Redis from 8.4 on.
    DelEx,
}

/// A task for a script that a plain command may be able to do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shortcut<'a> {
    /// Takes a free lock for `ttl` ms. `number` takes the token's place in the record.
    Take {
        entry: &'a QueueEntry,
        number: FencingToken,
        ttl: i64,
    },
    /// Releases a lock without waiters.
    Release {
        entry: &'a QueueEntry,
        number: FencingToken,
    },
}

/// A server's command for a [`Shortcut`].
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainCommand<'a> {
    shortcut: Shortcut<'a>,
    deletion: Option<Deletion>,
}

impl<'a> Shortcut<'a> {
    /// Returns the command for a connection with this compare-and-delete command, on which the scripts work or not, as
    /// far as is known.
    pub(super) fn command_with(
        self,
        deletion: Option<Deletion>,
        scripts_work: bool,
    ) -> Option<PlainCommand<'a>> {
        let is_usable = match self {
            // Otherwise the lock might not be released.
            Shortcut::Take { .. } => scripts_work,
            Shortcut::Release { .. } => deletion.is_some(),
        };
        is_usable.then_some(PlainCommand {
            shortcut: self,
            deletion,
        })
    }
}

impl PlainCommand<'_> {
    pub(super) fn write(&self, output: &mut Vec<u8>, lock: &str) {
        match (self.shortcut, self.deletion) {
            (Shortcut::Take { entry, number, ttl }, _) => {
                let text = Argument::Text;
                let (record, ttl) = (Argument::Record(entry, number), Argument::Number(ttl));
                let set = [text("SET"), text(lock), record, text("NX"), text("PX"), ttl];
                encoder::write(output, &set);
            }
            (Shortcut::Release { entry, number }, Some(deletion)) => {
                deletion.write(output, lock, entry, number);
            }
            (Shortcut::Release { .. }, None) => unreachable!("a release needs a deletion"),
        }
    }

    /// Returns [`Okay`](Value::Okay) if the lock was taken, otherwise what the script would return; `None` if the
    /// script must be asked.
    pub(super) fn answer(&self, answer: Value) -> Option<Value> {
        match (self.shortcut, answer) {
            // Another owner has the lock, or this owner through an earlier attempt.
            (Shortcut::Take { .. }, Value::Nil) => None,
            // There may be a waiter, another holder, or none. This answer makes the caller send `end`, which handles
            // each case.
            (Shortcut::Release { .. }, Value::Int(0)) => Some(Value::Int(2)),
            (_, answer) => Some(answer),
        }
    }

    /// Returns whether this is the server's own compare-and-delete command.
    pub(super) fn is_deletion(&self) -> bool {
        matches!(self.shortcut, Shortcut::Release { .. })
    }
}

impl Deletion {
    /// Returns the command of a server with this name and version (major and minor).
    pub(super) fn of_server(server: &str, version: (u32, u32)) -> Option<Deletion> {
        match server {
            "valkey" if version >= (9, 0) => Some(Deletion::DelIfEq),
            "redis" if version >= (8, 4) => Some(Deletion::DelEx),
            _ => None,
        }
    }

    /// Appends the command that deletes the record of `lock`, if the owner of `entry` holds it with `token` and no
    /// waiter has set the flag.
    fn write(self, output: &mut Vec<u8>, lock: &str, entry: &QueueEntry, token: FencingToken) {
        let (lock, record) = (Argument::Text(lock), Argument::Record(entry, token));
        match self {
            Deletion::DelIfEq => encoder::write(output, &[Argument::Text("DELIFEQ"), lock, record]),
            Deletion::DelEx => {
                let condition = Argument::Text("IFEQ");
                encoder::write(output, &[Argument::Text("DELEX"), lock, condition, record]);
            }
        }
    }
}

/// Returns whether the connection cannot use the command: the server lacks it, or the user lacks the permission.
pub(super) fn is_unusable(error: &RedisError) -> bool {
    let detail = error.detail().unwrap_or_default();
    error.code() == Some("NOPERM") || detail.contains("unknown command")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::owner_id::OwnerId;

    #[test]
    fn command_depends_on_the_version_of_the_server() {
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
            let found = Deletion::of_server(server, version);
            assert_eq!(found, expected, "{server} {version:?}");
        }
    }

    #[test]
    fn command_is_unusable_only_if_the_server_always_refuses_it() {
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
            assert_eq!(is_unusable(&error), expected, "{line}");
        }
    }

    #[test]
    fn command_names_the_complete_record() {
        let owner_id = OwnerId::parse_prefix(b"abcdefghABCDEFGH012345").unwrap();
        let entry = QueueEntry {
            owner_id,
            label: "api-7 ship".into(),
        };
        let arguments = |deletion: Deletion| {
            let mut output = Vec::new();
            let token = FencingToken::new(123);
            deletion.write(&mut output, "lock:k", &entry, token);
            let output = String::from_utf8(output).unwrap();
            let arguments = output.split("\r\n").skip(2).step_by(2);
            arguments.map(str::to_owned).collect::<Vec<_>>()
        };
        let record = "abcdefghABCDEFGH012345 0000000000000123 api-7 ship";
        assert_eq!(arguments(Deletion::DelIfEq), ["DELIFEQ", "lock:k", record]);
        assert_eq!(
            arguments(Deletion::DelEx),
            ["DELEX", "lock:k", "IFEQ", record]
        );
    }
}
