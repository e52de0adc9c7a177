//! The scripts, and parsers for their answers.
//!
//! # Invariants
//!
//! - A script names no key after it may have removed it: in a slot that is being migrated it would fail there, halfway
//!   through.
//! - Renewal and release name only the lock's own record.

use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use redis::Value;

use super::encoder::{Argument, CommandHeader};
use super::fence_retention::{FenceRetention, PerMemory};
use super::sources;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::{AcquireReply, EndReply, Waiting};
use crate::control;
use crate::key::{OneOrMore, RecordKind, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::record::{Counted, Grant, Holder};
use crate::lease::{Mode, Share};

/// A script, with the two headers that begin its calls.
pub(super) struct Script {
    /// The records that are its KEYS, in order.
    records: &'static [RecordKind],
    /// Whether the number of keys differs from call to call, so that the headers omit it.
    is_of_several: bool,
    by_digest: CommandHeader,
    by_source: CommandHeader,
}

/// The scripts of one mode, or for several locks at once.
pub(super) struct Scripts {
    pub(super) acquire: Script,
    pub(super) renew: Script,
    pub(super) release: Script,
    pub(super) end: Script,
}

/// The scripts of all modes, for clients with the same fence retention. Created on first use.
pub(super) struct ScriptSet {
    memory: FenceRetention,
    exclusive: OnceLock<Scripts>,
    write: OnceLock<Scripts>,
    share: OnceLock<Scripts>,
    several: OnceLock<Scripts>,
    mint: OnceLock<Script>,
    revoke: OnceLock<Script>,
}

impl ScriptSet {
    pub(super) fn with(memory: FenceRetention) -> &'static ScriptSet {
        static ALL: PerMemory<ScriptSet> = PerMemory::new();
        ALL.get(memory, ScriptSet::new)
    }

    fn new(memory: FenceRetention) -> ScriptSet {
        ScriptSet {
            memory,
            exclusive: OnceLock::new(),
            write: OnceLock::new(),
            share: OnceLock::new(),
            several: OnceLock::new(),
            mint: OnceLock::new(),
            revoke: OnceLock::new(),
        }
    }

    pub(super) fn of(&self, mode: Mode, names: &OneOrMore<RecordNames>) -> &Scripts {
        let memory = self.memory;
        if !names.is_one() {
            return self.several.get_or_init(|| several(memory));
        }
        match mode {
            Mode::Exclusive => self.exclusive(),
            Mode::Write => self.write.get_or_init(|| write(memory)),
            Mode::Share(_) => self.share.get_or_init(|| share(memory)),
        }
    }

    fn exclusive(&self) -> &Scripts {
        self.exclusive.get_or_init(|| exclusive(self.memory))
    }

    /// Returns the script that takes a lock of any mode from its holder.
    pub(super) fn revoke(&self) -> &Script {
        let revoke = || self.memory.source(sources::REVOKE);
        self.revoke.get_or_init(|| Script::new(ALL, &revoke()))
    }

    /// Returns the script that mints a token for a holder without one.
    pub(super) fn mint(&self) -> &Script {
        let mint = || self.memory.source(sources::MINT);
        self.mint.get_or_init(|| Script::new(OF_QUEUE, &mint()))
    }

    /// Returns the script that ends an owner and names its successor. It grants the lock to one waiter; if that is a
    /// share, its confirmation admits the next ones.
    pub(super) fn end_with_successor(&self) -> &Script {
        &self.exclusive().end
    }
}

impl Scripts {
    /// Returns the scripts `renew` and `release`, which write no fence and so do not depend on its retention.
    pub(super) fn of(mode: Mode, names: &OneOrMore<RecordNames>) -> &'static Scripts {
        static OF_A_DAY: LazyLock<&'static ScriptSet> =
            LazyLock::new(|| ScriptSet::with(FenceRetention::DAY));
        OF_A_DAY.of(mode, names)
    }

    /// Returns the script that reserves locks whose holder is done.
    pub(super) fn reserve() -> &'static Script {
        static REST: LazyLock<Script> =
            LazyLock::new(|| Script::of_several(&[RecordKind::Lock], sources::RESERVE));
        &REST
    }

    /// Returns the script that adds an entry to the run histories of locks, whatever their record.
    pub(super) fn record_run() -> &'static Script {
        static RECORD: LazyLock<Script> =
            LazyLock::new(|| Script::of_several(&[RecordKind::Runs], sources::RECORD_RUN));
        &RECORD
    }

    /// Returns the script that rewrites the records of locks, so that WAIT covers them.
    pub(super) fn rewrite() -> &'static Script {
        static REWRITE: LazyLock<Script> = LazyLock::new(|| {
            Script::of_several(&[RecordKind::Lock, RecordKind::Fence], sources::REWRITE)
        });
        &REWRITE
    }
}

pub(super) const OF_QUEUE: &[RecordKind] =
    &[RecordKind::Lock, RecordKind::Fence, RecordKind::Queue];
pub(super) const ALL: &[RecordKind] = &[
    RecordKind::Lock,
    RecordKind::Fence,
    RecordKind::Queue,
    RecordKind::Shares,
];

fn exclusive(memory: FenceRetention) -> Scripts {
    Scripts {
        acquire: Script::new(OF_QUEUE, &memory.source(sources::ACQUIRE)),
        renew: Script::new(&[RecordKind::Lock], sources::RENEW),
        release: Script::new(&[RecordKind::Lock], sources::RELEASE),
        end: Script::new(OF_QUEUE, &memory.source(sources::END)),
    }
}

/// Like the exclusive scripts, but `acquire` counts the shares of the lock, and `end` admits all waiting shares at
/// once.
fn write(memory: FenceRetention) -> Scripts {
    Scripts {
        acquire: Script::new(ALL, &memory.source(sources::ACQUIRE)),
        renew: Script::new(&[RecordKind::Lock], sources::RENEW),
        release: Script::new(&[RecordKind::Lock], sources::RELEASE),
        end: Script::new(ALL, &memory.source(sources::SHARE_END)),
    }
}

fn share(memory: FenceRetention) -> Scripts {
    let of_share = &[RecordKind::Lock, RecordKind::Shares];
    Scripts {
        acquire: Script::new(ALL, &memory.source(sources::SHARE_ACQUIRE)),
        renew: Script::new(of_share, sources::SHARE_RENEW),
        release: Script::new(of_share, sources::SHARE_RELEASE),
        end: Script::new(ALL, &memory.source(sources::SHARE_END)),
    }
}

/// The KEYS are the records of all locks.
fn several(memory: FenceRetention) -> Scripts {
    Scripts {
        acquire: Script::of_several(OF_QUEUE, &memory.source(sources::KEYS_ACQUIRE)),
        renew: Script::of_several(&[RecordKind::Lock], sources::KEYS_RENEW),
        release: Script::of_several(&[RecordKind::Lock], sources::KEYS_RELEASE),
        end: Script::of_several(OF_QUEUE, &memory.source(sources::KEYS_END)),
    }
}

impl Script {
    pub(super) fn new(records: &'static [RecordKind], source: &str) -> Script {
        Script::with_keys(records, records.len(), source)
    }

    /// Creates a script whose first argument names its last key: a record of the node, not of a lock.
    pub(super) fn of_node(records: &'static [RecordKind], source: &str) -> Script {
        Script::with_keys(records, records.len() + 1, source)
    }

    fn with_keys(records: &'static [RecordKind], keys: usize, source: &str) -> Script {
        let source = &control::without_removed(source);
        let keys = Argument::Number(count(keys));
        let header = |command, script| {
            CommandHeader::new(&[Argument::Text(command), Argument::Text(script), keys])
        };
        Script {
            records,
            is_of_several: false,
            by_digest: header("EVALSHA", redis::Script::new(source).get_hash()),
            by_source: header("EVAL", source),
        }
    }

    /// Creates a script for any number of locks.
    fn of_several(records: &'static [RecordKind], source: &str) -> Script {
        let source = &control::without_removed(source);
        let header = |command, script| {
            CommandHeader::new(&[Argument::Text(command), Argument::Text(script)])
        };
        Script {
            records,
            is_of_several: true,
            by_digest: header("EVALSHA", redis::Script::new(source).get_hash()),
            by_source: header("EVAL", source),
        }
    }

    /// Returns whether this is the same script with the same records.
    pub(super) fn is(&self, other: &Script) -> bool {
        self.by_digest == other.by_digest
    }

    /// Appends a call for the locks with these names.
    ///
    /// A call by digest is short, but a server that lacks the script answers NOSCRIPT. A call `by_source` carries the
    /// script, which the server keeps.
    pub(super) fn write(
        &self,
        output: &mut Vec<u8>,
        by_source: bool,
        names: &OneOrMore<RecordNames>,
        arguments: &[Argument<'_>],
    ) {
        let header = if by_source {
            &self.by_source
        } else {
            &self.by_digest
        };
        if !self.is_of_several {
            let records = self.records.iter();
            let keys = records.map(|&record| Argument::Name(names.first().of(record)));
            return header.write(output, keys, arguments);
        }
        let mut keys = vec![Argument::Number(0)];
        for names in names.iter() {
            keys.extend(
                self.records
                    .iter()
                    .map(|&record| Argument::Name(names.of(record))),
            );
        }
        keys[0] = Argument::Number(count(keys.len() - 1));
        header.write(output, keys.into_iter(), arguments);
    }
}

fn count(keys: usize) -> i64 {
    i64::try_from(keys).unwrap_or(i64::MAX)
}

/// Parses the answer to an owner that asked for the locks with these names in this mode.
pub(super) fn parse_acquire_reply(
    value: Value,
    mode: Mode,
    names: &OneOrMore<RecordNames>,
) -> Result<AcquireReply, WireError> {
    let reply = match &value {
        Value::Array(parts) if names.is_one() => {
            parse_waiting(parts, 0, mode).map(AcquireReply::Waiting)
        }
        Value::Array(parts) => match parts.split_first() {
            // The script counts from 1.
            Some((&Value::Int(number), parts)) if number != 0 => {
                let lock = usize::try_from(number.unsigned_abs() - 1).unwrap_or(usize::MAX);
                let waiting = parse_waiting(parts, lock, mode);
                waiting.map(|waiting| {
                    AcquireReply::Waiting(Waiting {
                        holds_later: number < 0,
                        ..waiting
                    })
                })
            }
            _ => None,
        },
        value => parse_grant(value).map(AcquireReply::Granted),
    };
    reply.ok_or_else(|| unknown_answer("acquire"))
}

pub(super) fn parse_waiting(parts: &[Value], lock: usize, mode: Mode) -> Option<Waiting> {
    let [
        Value::Int(remaining),
        Value::Int(position),
        Value::BulkString(holder),
        counted @ ..,
    ] = parts
    else {
        return None;
    };
    let mut holder = Holder::parse(holder);
    match counted {
        [] => {}
        &[Value::Int(owners), Value::Int(taken), Value::Int(age)] => {
            if let Holder::Shared(shared) = &mut holder {
                let count = |number| u64::try_from(number).unwrap_or(0);
                shared.counted = Some(Counted {
                    owners: count(owners),
                    taken: count(taken),
                    limit: mode.share().and_then(Share::limit),
                    since: Duration::from_millis(count(age)),
                });
            }
        }
        _ => return None,
    }
    Some(Waiting {
        // −1 stands for a key that never expires.
        remaining: u64::try_from(*remaining).ok().map(Duration::from_millis),
        position: u32::try_from(*position).unwrap_or(u32::MAX),
        holder,
        lock,
        holds_later: false,
    })
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

pub(super) fn parse_reserve_reply(value: &Value) -> Result<EndReply, WireError> {
    match value {
        Value::Int(1) => Ok(EndReply::Reserved),
        Value::Int(-1) => Ok(EndReply::NotOurs),
        _ => Err(unknown_answer("reserve")),
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

pub(super) fn parse_grant(value: &Value) -> Option<Grant> {
    match value {
        Value::BulkString(text) => Grant::parse(text),
        _ => None,
    }
}

/// Returns the error for an unknown answer. It omits the answer itself, which may contain an owner id.
pub(super) fn unknown_answer(script: &str) -> WireError {
    WireError::refused(format!(
        "the script `{script}` gave an answer that this version does not know"
    ))
}

pub(super) fn parse_mint_reply(value: &Value) -> Result<Option<FencingToken>, WireError> {
    match value {
        Value::Nil => Ok(None),
        value => parse_grant(value)
            .filter(|grant| grant.token.is_minted())
            .map(|grant| Some(grant.token))
            .ok_or_else(|| unknown_answer("mint")),
    }
}

#[cfg(test)]
mod tests;
