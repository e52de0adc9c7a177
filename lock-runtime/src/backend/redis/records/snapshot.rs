//! All records of one lock at the same moment.

use std::time::Duration;

use redis::Value;

use super::string_record::{Held, SHOWN, StringRecord, micros};
use crate::backend::redis::encoder::Argument;
use crate::backend::redis::error_reply::words_of;
use crate::backend::redis::node::queries::{Command, is_of_another_type};
use crate::backend::wire::error::WireError;
use crate::key::{LockKey, RecordKind, RecordNames};
use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::record::without_tag;
use crate::state::{Holder, LockState, Waiter};

/// How many waiters, and how many holders, are shown: `MAX_CHECKED` of `limits.lua`.
const MOST: usize = 128;

/// How long a waiter is considered alive after its last poll: `LIVE_US` of `grant.lua`.
const LIVE_US: f64 = 6_000_000.0;

/// The longest label that is shown, in bytes.
const LONGEST_LABEL: usize = 512;

/// The records of one lock.
#[derive(Clone, Debug)]
pub(in crate::backend::redis) struct Snapshot {
    pub(in crate::backend::redis) record: StringRecord,
    pub(in crate::backend::redis) fence: Option<FencingToken>,
    /// The first entries of the queue, with their tickets.
    entries: Vec<(Vec<u8>, f64)>,
    /// The number of members of the queue, heartbeats included.
    members: u64,
    /// The first shares, with their expiries (µs).
    shares: Vec<(Vec<u8>, f64)>,
    /// The number of members in the record of shares. One of them is the sum.
    share_members: u64,
}

/// The properties that distinguish a waiter.
#[derive(Clone, Debug)]
pub(in crate::backend::redis) struct Waiting {
    pub(in crate::backend::redis) entry: Vec<u8>,
    pub(in crate::backend::redis) waiter: Waiter,
}

impl Snapshot {
    /// Returns the commands, which must run as one transaction.
    pub(in crate::backend::redis) fn commands(names: &RecordNames) -> Vec<Command<'_>> {
        let of = |record| Argument::Name(names.of(record));
        let [lock, fence, queue, shares] = [
            RecordKind::Lock,
            RecordKind::Fence,
            RecordKind::Queue,
            RecordKind::Shares,
        ]
        .map(of);
        let text = Argument::Text;
        vec![
            vec![
                text("GETRANGE"),
                lock,
                text("0"),
                Argument::Number(SHOWN - 1),
            ],
            vec![text("STRLEN"), lock],
            vec![text("PTTL"), lock],
            vec![text("TIME")],
            vec![text("GETRANGE"), fence, text("0"), text("31")],
            vec![text("ZCARD"), queue],
            first_from(queue, text("0"), MOST),
            vec![text("ZCARD"), shares],
            first_from(shares, text("0"), MOST),
        ]
    }

    /// Parses the answers to the commands. A record of another type counts as unknown.
    pub(in crate::backend::redis) fn parse(answers: &[Value]) -> Result<Snapshot, WireError> {
        let [
            value,
            length,
            left,
            time,
            fence,
            members,
            entries,
            share_members,
            shares,
        ] = answers
        else {
            return Err(unknown());
        };
        // A command may also fail for another reason, such as a permission that was just revoked. That does not mean
        // that the lock is free.
        let mut errors = answers.iter().filter(|answer| !is_of_another_type(answer));
        let refused = errors.find_map(|answer| match answer {
            Value::ServerError(error) => Some(words_of(error)),
            _ => None,
        });
        if let Some(words) = refused {
            return Err(WireError::refused(format!(
                "the server refuses to show the lock: {words}"
            )));
        }
        let now = micros(time).ok_or_else(unknown)?;
        let mut record = StringRecord::new(value.clone(), left, now);
        record.set_length(length);
        Ok(Snapshot {
            record,
            fence: token(fence),
            entries: scored(entries),
            members: count(members),
            shares: scored(shares),
            share_members: count(share_members),
        })
    }

    /// Returns the query for the live shares, if expired ones leave no room for all of them in the snapshot. Expired
    /// shares come first, and stay until a caller asks for the lock.
    pub(in crate::backend::redis) fn live_shares<'a>(
        &self,
        names: &'a RecordNames,
    ) -> Option<Command<'a>> {
        if self.shares.len() < MOST || self.lapsed() == 0 {
            return None;
        }
        // The query includes a share that expires in this microsecond, although it no longer holds.
        let now = i64::try_from(self.record.now).unwrap_or(i64::MAX);
        let shares = Argument::Name(names.of(RecordKind::Shares));
        Some(first_from(shares, Argument::Number(now), MOST))
    }

    /// Parses the answer to [`live_shares`](Snapshot::live_shares).
    pub(in crate::backend::redis) fn set_live_shares(&mut self, answer: &Value) {
        let lapsed = u64::try_from(self.lapsed()).unwrap_or(0);
        self.shares = scored(answer);
        // The number of expired shares that were not read is known only if all live ones have now been read.
        self.share_members = if self.shares.len() < MOST {
            0
        } else {
            self.share_members.saturating_sub(lapsed)
        };
    }

    /// Returns how many of the shares that were read have expired.
    fn lapsed(&self) -> usize {
        let now = self.record.now as f64;
        let lapsed = self.shares.iter().filter(|(_, expiry)| *expiry <= now);
        lapsed.count()
    }

    /// Returns the query for the waiters' last signs of life; `None` without waiters.
    pub(in crate::backend::redis) fn heartbeats<'a>(
        &'a self,
        names: &'a RecordNames,
    ) -> Option<Command<'a>> {
        let owners: Vec<_> = self.owners().map(Argument::Bytes).collect();
        let queue = Argument::Name(names.of(RecordKind::Queue));
        (!owners.is_empty()).then(|| [vec![Argument::Text("ZMSCORE"), queue], owners].concat())
    }

    fn owners(&self) -> impl Iterator<Item = &[u8]> {
        self.entries
            .iter()
            .filter_map(|(entry, _)| entry.get(..OwnerId::LEN))
    }

    /// Returns the waiters, given the answer to [`heartbeats`](Snapshot::heartbeats). Omits waiters that have left
    /// since.
    pub(in crate::backend::redis) fn waiting(&self, heartbeats: &Value) -> Vec<Waiting> {
        let Value::Array(heartbeats) = heartbeats else {
            return Vec::new();
        };
        let since = |time| self.record.since(time);
        let entries = self
            .entries
            .iter()
            .filter(|(entry, _)| entry.len() >= OwnerId::LEN);
        let waiting = entries
            .zip(heartbeats)
            .filter_map(|((entry, ticket), heartbeat)| {
                let alive_until = -number(heartbeat)?;
                let label = entry.get(OwnerId::LEN + 1..).unwrap_or_default();
                let label = without_tag(label);
                let label = &label[..label.len().min(LONGEST_LABEL)];
                Some(Waiting {
                    entry: entry.clone(),
                    waiter: Waiter {
                        label: String::from_utf8_lossy(label).into_owned(),
                        waiting: since(*ticket),
                        last_seen: since(alive_until - LIVE_US),
                    },
                })
            });
        waiting.collect()
    }

    /// Returns how long the first waiter has waited.
    pub(in crate::backend::redis) fn longest_wait(&self) -> Option<Duration> {
        let first = self.entries.first();
        first.map(|(_, ticket)| self.record.since(*ticket))
    }

    /// Returns the number of waiters in addition to the queried ones.
    pub(in crate::backend::redis) fn more_waiters(&self) -> usize {
        self.waiters().saturating_sub(self.entries.len())
    }

    pub(in crate::backend::redis) fn waiters(&self) -> usize {
        usize::try_from(self.members / 2).unwrap_or(usize::MAX)
    }

    /// Returns the state of the lock with this key and these waiters.
    pub(in crate::backend::redis) fn state(&self, key: LockKey, waiters: Vec<Waiter>) -> LockState {
        let mut state = LockState::free(key);
        match self.record.held() {
            Held::Free => {}
            Held::Alone(holder) => state.holders.push(holder),
            Held::Together(holder) => {
                state.shared_label.clone_from(&holder.label);
                state.holders = self.sharers(&holder);
                // One of the members is the sum.
                let all =
                    usize::try_from(self.share_members.saturating_sub(1)).unwrap_or(usize::MAX);
                state.more_holders = all.saturating_sub(self.shares.len());
                if state.holders.is_empty() {
                    // The record of shares was lost, and the lock lasts until it expires.
                    state.holders.push(holder);
                }
            }
        }
        state.waiters = waiters;
        state.more_waiters = self.more_waiters();
        state.last_token = self.fence;
        state
    }

    /// Returns the holders that share the lock and have not expired.
    fn sharers(&self, of_phase: &Holder) -> Vec<Holder> {
        let now = self.record.now as f64;
        let live = self.shares.iter().filter(|(_, expiry)| *expiry > now);
        let sharers = live.map(|(member, expiry)| {
            let take = member
                .get(OwnerId::LEN + 1..)
                .and_then(|take| std::str::from_utf8(take).ok());
            Holder {
                // The record has only the label of the first, which may have left.
                label: String::new(),
                remaining: Some(Duration::from_micros((expiry - now) as u64)),
                permits: take.and_then(|take| take.parse().ok()).unwrap_or(1),
                ..of_phase.clone()
            }
        });
        sharers.collect()
    }
}

/// Returns the command for the first members of a set from this score on, with their scores.
pub(super) fn first_from<'a>(set: Argument<'a>, score: Argument<'a>, most: usize) -> Command<'a> {
    let text = Argument::Text;
    let mut command = vec![text("ZRANGEBYSCORE"), set, score];
    command.extend(["+inf", "WITHSCORES", "LIMIT", "0"].map(text));
    command.push(Argument::Number(most as i64));
    command
}

fn unknown() -> WireError {
    WireError::refused("the server's answer about a lock is one that this version does not know")
}

/// Parses a number of members; 0 for a record of another type.
pub(in crate::backend::redis) fn count(value: &Value) -> u64 {
    match value {
        Value::Int(count) => u64::try_from(*count).unwrap_or(0),
        _ => 0,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Double(number) => Some(*number),
        Value::Int(number) => Some(*number as f64),
        Value::BulkString(digits) => std::str::from_utf8(digits).ok()?.parse().ok(),
        _ => None,
    }
}

fn token(value: &Value) -> Option<FencingToken> {
    match value {
        Value::BulkString(digits) => std::str::from_utf8(digits)
            .ok()?
            .parse()
            .ok()
            .map(FencingToken::new),
        _ => None,
    }
}

/// Parses members with their scores, which RESP3 sends in pairs.
pub(super) fn scored(value: &Value) -> Vec<(Vec<u8>, f64)> {
    let Value::Array(members) = value else {
        return Vec::new();
    };
    let pair = |member: &Value| match member {
        Value::Array(pair) => match &pair[..] {
            [Value::BulkString(member), score] => Some((member.clone(), number(score)?)),
            _ => None,
        },
        _ => None,
    };
    members.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests;
