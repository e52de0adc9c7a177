//! A lock as the live view shows it.

use lock_runtime::inspect::{LockState, Seen};

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
    pub(crate) seen: Option<Seen>,
}

impl Row {
    /// The row of a lock; `None` if it is free.
    pub(crate) fn of(mut lock: LockState) -> Option<Row> {
        let waiters = lock.waiting();
        let others = (lock.holders.len() + lock.more_holders).saturating_sub(1);
        let first = lock.holders.drain(..).next()?;
        let holder = match (first.label, others) {
            (label, 0) if label.is_empty() => format!("({})", first.kind.as_str()),
            (label, 0) => label,
            (label, others) => format!("{label} and {others} more"),
        };
        Some(Row {
            key: lock.key.as_str().to_owned(),
            holder,
            token: first.token.map(|token| token.get()),
            age_ms: first.age.map(millis),
            remaining_ms: first.remaining.map(millis),
            waiters,
            seen: first.seen,
        })
    }

    /// Whether it is the same grant: tokens differ, and a holder without one by its label.
    fn is_grant_of(&self, other: &Row) -> bool {
        self.token == other.token && self.holder == other.holder
    }
}

/// What has changed from one look at the locks to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Taken(Row),
    /// Another grant of a lock that was held.
    Passed(Row),
    Freed(Row),
}

/// The changes between two looks, each in the order of keys.
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
}
