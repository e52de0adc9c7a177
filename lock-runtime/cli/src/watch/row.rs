//! A lock as the live view shows it.

use lock_runtime::LockKey;
use lock_runtime::inspect::{Holder, HolderKind, HolderRef, ListedLock, LockState};

use crate::output::millis;

/// A lock that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) key: String,
    pub(crate) holder: String,
    pub(crate) token: Option<u64>,
    pub(crate) age_ms: Option<u64>,
    pub(crate) remaining_ms: Option<u64>,
    pub(crate) waiters: usize,
    pub(crate) kind: HolderKind,
    /// The number of holders.
    pub(crate) holders: usize,
    pub(crate) seen: Option<HolderRef>,
}

impl Row {
    pub(crate) fn of(lock: ListedLock) -> Row {
        Row::with(&lock.key, lock.holder, lock.holder_count, lock.waiter_count)
    }

    /// The row of a lock; `None` if it is free.
    pub(crate) fn of_state(mut lock: LockState) -> Option<Row> {
        let (holders, waiters) = (lock.holder_count(), lock.waiter_count());
        let first = lock.holders.drain(..).next()?;
        Some(Row::with(&lock.key, first, holders, waiters))
    }

    fn with(key: &LockKey, first: Holder, holders: usize, waiters: usize) -> Row {
        let holder = match (first.label, holders) {
            (label, ..=1) if label.is_empty() => format!("({})", first.kind.as_str()),
            (label, ..=1) => label,
            (label, holders) => format!("{label} and {} more", holders - 1),
        };
        Row {
            key: key.as_str().to_owned(),
            holder,
            token: first.token.map(|token| token.get()),
            age_ms: first.age.map(millis),
            remaining_ms: first.remaining.map(millis),
            waiters,
            kind: first.kind,
            holders,
            seen: first.reference,
        }
    }

    /// Returns whether others may hold the lock by the same record, and lose it with this holder.
    pub(crate) fn is_shared(&self) -> bool {
        self.kind == HolderKind::Share || self.holders > 1
    }

    /// The time of the grant, for sorting: a token is the server's time of its grant. `None` if unknown. Ages would not compare,
    /// since rows are read at different times.
    pub(crate) fn granted(&self) -> Option<u64> {
        self.age_ms.and(self.token)
    }

    /// Returns whether it is the same grant. Each grant has a token of its own, while the label of a record may change during a
    /// grant, as callers join it.
    fn is_grant_of(&self, before: &Row) -> bool {
        let is_same_kind = self.kind == before.kind;
        match (self.token, before.token) {
            // Without tokens, another grant has another owner or record.
            (None, None) if is_same_kind && self.kind != HolderKind::Redisson => {
                self.seen == before.seen
            }
            // Redisson's record changes when its owner takes the lock again.
            (None, None) if is_same_kind => self.holder == before.holder,
            // The lock is reserved.
            (None, None) => self.kind == HolderKind::Reserved && self.holder == before.holder,
            // The holder has asked for its token.
            (Some(_), None) => is_same_kind && self.holder == before.holder,
            (token, of_other) => token == of_other,
        }
    }
}

/// Sorts rows by key. If a lock was listed twice, keeps the last row, which is the newest.
pub(crate) fn in_order(mut rows: Vec<Row>) -> Vec<Row> {
    // A stable sort, which is fast on pages that are sorted already.
    rows.sort_by(|one, other| one.key.cmp(&other.key));
    rows.dedup_by(|later, kept| {
        let is_again = later.key == kept.key;
        if is_again {
            std::mem::swap(later, kept);
        }
        is_again
    });
    rows
}

/// A change from one read of the locks to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Taken(Row),
    /// Another grant of a lock that was held.
    Passed(Row),
    Freed(Row),
}

/// The changes between two reads, in the order of keys.
pub(crate) fn changes(before: &[Row], now: &[Row]) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut before, mut now) = (before.iter().peekable(), now.iter().peekable());
    loop {
        let order = match (before.peek(), now.peek()) {
            (None, None) => return changes,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(old), Some(new)) => old.key.cmp(&new.key),
        };
        if order.is_lt() {
            changes.extend(before.next().cloned().map(Change::Freed));
        } else if order.is_gt() {
            changes.extend(now.next().cloned().map(Change::Taken));
        } else if let (Some(old), Some(new)) = (before.next(), now.next())
            && !new.is_grant_of(old)
        {
            changes.push(Change::Passed(new.clone()));
        }
    }
}

#[cfg(test)]
pub(super) fn row(key: &str, holder: &str, token: u64) -> Row {
    Row {
        key: key.to_owned(),
        holder: holder.to_owned(),
        token: Some(token),
        age_ms: Some(token),
        remaining_ms: Some(1_000),
        waiters: 0,
        kind: HolderKind::Exclusive,
        holders: 1,
        seen: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_grants_and_ends() {
        let before = [row("a", "x", 1), row("b", "x", 2), row("d", "x", 3)];
        let mut renewed = row("a", "x", 1);
        renewed.remaining_ms = Some(2_000);
        let now = [renewed, row("c", "y", 4), row("d", "y", 5)];
        assert_eq!(
            changes(&before, &now),
            [
                Change::Freed(row("b", "x", 2)),
                Change::Taken(row("c", "y", 4)),
                Change::Passed(row("d", "y", 5)),
            ]
        );
        assert_eq!(changes(&now, &now), []);
    }

    #[test]
    fn grants_differ_by_their_tokens_and_owners() {
        let passed = |old: &Row, new: &Row| {
            let changes = changes(std::slice::from_ref(old), std::slice::from_ref(new));
            match &changes[..] {
                [] => false,
                [Change::Passed(row)] => row == new,
                others => panic!("{others:?}"),
            }
        };
        let ours = row("a", "x", 1);
        // A caller joins, or the lock is reserved.
        assert!(!passed(&ours, &row("a", "x and 1 more", 1)));
        assert!(passed(&ours, &row("a", "x", 17)));
        let of = |kind, holder: &str, seen: u64| Row {
            token: None,
            kind,
            seen: Some(HolderRef::Record(format!("{seen:016x}").parse().unwrap())),
            ..row("a", holder, 0)
        };
        assert!(passed(&ours, &of(HolderKind::Foreign, "(foreign)", 1)));
        let foreign = |seen| of(HolderKind::Foreign, "(foreign)", seen);
        assert!(passed(&foreign(1), &foreign(2)) && !passed(&foreign(1), &foreign(1)));
        let without = |holder, seen| of(HolderKind::Exclusive, holder, seen);
        assert!(passed(&without("x", 1), &without("x", 2)));
        assert!(!passed(&without("x", 1), &without("x", 1)));
        // The holder asks for a token, or the lock is reserved.
        assert!(!passed(&without("x", 1), &ours));
        assert!(!passed(&without("x", 1), &of(HolderKind::Reserved, "x", 2)));
        assert!(passed(&without("y", 1), &ours) && passed(&ours, &without("x", 1)));
        let redisson = |holder, seen| of(HolderKind::Redisson, holder, seen);
        assert!(passed(&redisson("x", 1), &redisson("y", 2)));
        assert!(!passed(&redisson("x", 1), &redisson("x", 2)));
    }

    #[test]
    fn lock_that_is_listed_twice_has_one_row() {
        let found = [("b", 1), ("a", 2), ("b", 3), ("c", 4), ("b", 5)];
        let rows = found.map(|(key, token)| row(key, "x", token));
        let kept = [("a", 2), ("b", 5), ("c", 4)].map(|(key, token)| row(key, "x", token));
        assert_eq!(in_order(rows.to_vec()), kept);
    }
}
