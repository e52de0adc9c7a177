//! The JSON about locks; pages show the same.
//!
//! The field names are the same as in `lockctl --json`, and stable.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lock_runtime::inspect::{AuditEntry, Holder, HolderRef, LocalHold, LockState, Votes, Waiter};
use serde::Serialize;

/// A lock of a listing.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LockLine {
    pub(crate) key: String,
    /// The first holder.
    pub(crate) holder: String,
    pub(crate) kind: &'static str,
    /// The number of holders.
    pub(crate) holders: usize,
    pub(crate) token: Option<u64>,
    pub(crate) age_ms: Option<u64>,
    pub(crate) remaining_ms: Option<u64>,
    /// The number of waiting clients.
    pub(crate) waiters: usize,
}

impl LockLine {
    /// The line of a held lock; `None` for a free lock.
    pub(crate) fn of(lock: &LockState) -> Option<LockLine> {
        let first = lock.holders.first()?;
        Some(LockLine {
            key: lock.key.as_str().to_owned(),
            holder: first.label.clone(),
            kind: first.kind.as_str(),
            holders: lock.holders.len() + lock.more_holders,
            token: first.token.map(|token| token.get()),
            age_ms: first.age.map(millis),
            remaining_ms: first.remaining.map(millis),
            waiters: lock.waiting(),
        })
    }
}

/// Everything about a lock.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LockReport {
    pub(crate) key: String,
    pub(crate) held: bool,
    pub(crate) holders: Vec<HolderReport>,
    pub(crate) more_holders: usize,
    pub(crate) waiters: Vec<WaiterReport>,
    pub(crate) more_waiters: usize,
    pub(crate) last_token: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) votes: Option<VotesReport>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct HolderReport {
    pub(crate) holder: String,
    pub(crate) kind: &'static str,
    pub(crate) token: Option<u64>,
    /// Identifies the holder in a revocation: its token, or `record:` and a hash.
    pub(crate) seen: Option<String>,
    /// For a holder without a token: the hash for `lockctl revoke --hash`.
    pub(crate) record: Option<String>,
    pub(crate) age_ms: Option<u64>,
    pub(crate) remaining_ms: Option<u64>,
    pub(crate) takes: u32,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct WaiterReport {
    pub(crate) waiter: String,
    pub(crate) waiting_ms: u64,
    pub(crate) last_seen_ms: u64,
}

/// The number of nodes in a quorum, of answers, and of nodes that the owner has.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct VotesReport {
    pub(crate) nodes: usize,
    pub(crate) answered: usize,
    pub(crate) held: usize,
}

impl LockReport {
    pub(crate) fn of(lock: &LockState) -> LockReport {
        LockReport {
            key: lock.key.as_str().to_owned(),
            held: lock.is_held(),
            holders: lock.holders.iter().map(HolderReport::of).collect(),
            more_holders: lock.more_holders,
            waiters: lock.waiters.iter().map(WaiterReport::of).collect(),
            more_waiters: lock.more_waiters,
            last_token: lock.last_token.map(|token| token.get()),
            votes: lock.votes.map(VotesReport::of),
        }
    }
}

impl HolderReport {
    fn of(holder: &Holder) -> HolderReport {
        HolderReport {
            holder: holder.label.clone(),
            kind: holder.kind.as_str(),
            token: holder.token.map(|token| token.get()),
            seen: holder.seen.map(|seen| seen.to_string()),
            record: match holder.seen {
                Some(HolderRef::Record(hash)) => Some(hash.to_string()),
                _ => None,
            },
            age_ms: holder.age.map(millis),
            remaining_ms: holder.remaining.map(millis),
            takes: holder.takes,
        }
    }
}

impl WaiterReport {
    fn of(waiter: &Waiter) -> WaiterReport {
        WaiterReport {
            waiter: waiter.label.clone(),
            waiting_ms: millis(waiter.waiting),
            last_seen_ms: millis(waiter.last_seen),
        }
    }
}

impl VotesReport {
    fn of(votes: Votes) -> VotesReport {
        VotesReport {
            nodes: votes.nodes,
            answered: votes.answered,
            held: votes.held,
        }
    }
}

/// A lock that this process holds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct HeldReport {
    pub(crate) keys: Vec<String>,
    /// Empty for a lock that was taken without the attribute.
    pub(crate) function: &'static str,
    pub(crate) token: Option<u64>,
    pub(crate) age_ms: u64,
    pub(crate) remaining_ms: u64,
    /// The number of this client's callers that wait behind it.
    pub(crate) callers: usize,
}

impl HeldReport {
    pub(crate) fn of(held: &LocalHold) -> HeldReport {
        HeldReport {
            keys: held.keys.iter().map(|key| key.as_str().into()).collect(),
            function: held.function,
            token: held.token.map(|token| token.get()),
            age_ms: millis(held.age),
            remaining_ms: millis(held.remaining),
            callers: held.waiting,
        }
    }
}

/// A line of the audit.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AuditLine {
    /// By the server's clock, as RFC 3339.
    pub(crate) at: String,
    pub(crate) operation: String,
    pub(crate) by: String,
    pub(crate) user: String,
    pub(crate) action: String,
    pub(crate) key: String,
    pub(crate) token: Option<u64>,
    pub(crate) holder: String,
    pub(crate) reason: String,
    pub(crate) outcome: String,
    #[serde(skip)]
    pub(crate) outcome_in_words: String,
}

impl AuditLine {
    pub(crate) fn of(entry: AuditEntry) -> AuditLine {
        AuditLine {
            outcome_in_words: entry.outcome_in_words().to_owned(),
            at: rfc3339(entry.at),
            operation: entry.operation,
            by: entry.by,
            user: entry.user,
            action: entry.action,
            key: entry.key.as_str().to_owned(),
            token: entry.token.map(|token| token.get()),
            holder: entry.label,
            reason: entry.reason,
            outcome: entry.outcome,
        }
    }
}

/// Whole milliseconds.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A time of the audit as RFC 3339, capped at the year 9999: another program may have written it.
fn rfc3339(at: SystemTime) -> String {
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    humantime::format_rfc3339_millis(at.min(UNIX_EPOCH + LAST)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_beyond_the_calendar_is_shown() {
        assert_eq!(rfc3339(UNIX_EPOCH), "1970-01-01T00:00:00.000Z");
        let far = UNIX_EPOCH + Duration::from_secs(1 << 40);
        assert_eq!(rfc3339(far), "9999-12-31T23:59:59.000Z");
    }
}
