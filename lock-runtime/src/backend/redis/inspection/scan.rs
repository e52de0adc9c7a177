//! The locks that one node has, page by page.

use std::time::Instant;

use redis::Value;

use super::record::{Held, LockRecord, SHOWN, micros};
use super::snapshot::count;
use crate::backend::redis::command::Argument;
use crate::backend::redis::node::Node;
use crate::backend::redis::node::asking::{Answers, Command, is_of_another_type};
use crate::backend::redis::node_error::NodeError;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{Listing, Position};
use crate::key::{LockKey, RecordKind, RecordNames};
use crate::state::LockState;

/// How often a page begins anew because the connection is another one by then.
const MAX_RESTARTS: u32 = 16;

/// A lock that a node may have.
#[derive(Clone, Debug)]
pub(in crate::backend::redis) struct Found {
    pub(in crate::backend::redis) key: LockKey,
    pub(in crate::backend::redis) names: RecordNames,
}

/// The record of a found lock.
#[derive(Clone, Debug)]
pub(in crate::backend::redis) enum Look {
    Here(LockRecord, Counts),
    /// Another node has it by now.
    Elsewhere,
}

/// How many there are beside the record.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::backend::redis) struct Counts {
    pub(in crate::backend::redis) waiters: usize,
    pub(in crate::backend::redis) shares: usize,
}

/// The names of the next locks of a node, and how far it is read then. `None` in its place at the end.
///
/// A cursor is valid for its server alone, and the next connection may lead to another one: then the node is read from
/// its beginning, and locks are shown twice rather than not at all.
pub(in crate::backend::redis) async fn next(
    node: &Node,
    listing: &Listing,
    position: &Position,
    until: Instant,
) -> Result<(Vec<Found>, Option<Position>), NodeError> {
    let mut position = position.clone();
    loop {
        let cursor = if position.cursor.is_empty() {
            "0"
        } else {
            &position.cursor
        };
        let mut scan: Command<'_> = ["SCAN", cursor, "MATCH", &listing.pattern, "COUNT"]
            .map(Argument::Text)
            .to_vec();
        scan.push(Argument::Number(listing.count.into()));
        let Answers { connection, values } = node.ask_all(&[scan], until).await?;
        let answer = values.into_iter().next().unwrap_or(Value::Nil);
        if let Some(error) = node.error_in(&connection, &answer) {
            return Err(error);
        }
        if position.connection.is_some_and(|id| id != connection.id) {
            if position.restarts == MAX_RESTARTS {
                let text = "the connection was replaced too often during the listing";
                return Err(NodeError::Final(WireError::unavailable(text)));
            }
            position = Position {
                restarts: position.restarts + 1,
                ..Position::default()
            };
            continue;
        }
        let (cursor, names) = parse(&answer).ok_or_else(unknown)?;
        let mut found: Vec<Found> = names
            .iter()
            .filter_map(|name| lock_of(name, &listing.prefix))
            .collect();
        found.sort_by(|one, other| one.key.as_str().cmp(other.key.as_str()));
        // A server may name a key twice in one answer.
        found.dedup_by(|one, other| one.key == other.key);
        let is_over = cursor == "0";
        let after = Position {
            connection: Some(connection.id),
            cursor,
            restarts: position.restarts,
        };
        return Ok((found, (!is_over).then_some(after)));
    }
}

/// The records of locks, as one node has them.
pub(in crate::backend::redis) async fn look(
    node: &Node,
    found: &[Found],
    until: Instant,
) -> Result<Vec<Look>, NodeError> {
    const EACH: usize = 4;
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let text = Argument::Text;
    let mut commands: Vec<Command<'_>> = vec![vec![text("TIME")]];
    for Found { names, .. } in found {
        let lock = Argument::Name(names.of(RecordKind::Lock));
        let queue = Argument::Name(names.of(RecordKind::Queue));
        commands.push(vec![
            text("GETRANGE"),
            lock,
            text("0"),
            Argument::Number(SHOWN - 1),
        ]);
        commands.push(vec![text("STRLEN"), lock]);
        commands.push(vec![text("PTTL"), lock]);
        commands.push(vec![text("ZCARD"), queue]);
    }
    let Answers { connection, values } = node.ask_all(&commands, until).await?;
    let (time, values) = values.split_first().ok_or_else(unknown)?;
    if let Some(error) = node.error_in(&connection, time) {
        return Err(error);
    }
    let now = micros(time).ok_or_else(unknown)?;
    let mut looks = Vec::with_capacity(found.len());
    for values in values.chunks(EACH) {
        let mut is_elsewhere = false;
        for value in values {
            match node.error_in(&connection, value) {
                None => {}
                Some(NodeError::Redirected(_) | NodeError::SlotMoves(_)) => is_elsewhere = true,
                Some(_) if is_of_another_type(value) => {}
                Some(error) => return Err(error),
            }
        }
        let [value, length, left, members] = values else {
            return Err(unknown());
        };
        let waiters = usize::try_from(count(members) / 2).unwrap_or(usize::MAX);
        looks.push(match is_elsewhere {
            true => Look::Elsewhere,
            false => Look::Here(
                LockRecord::new(value, length, left, now),
                Counts { waiters, shares: 0 },
            ),
        });
    }
    count_shares(node, found, &mut looks, until).await?;
    Ok(looks)
}

/// Counts those that share a lock, where it is shared.
async fn count_shares(
    node: &Node,
    found: &[Found],
    looks: &mut [Look],
    until: Instant,
) -> Result<(), NodeError> {
    let mut shared = Vec::new();
    let mut commands: Vec<Command<'_>> = Vec::new();
    for (Found { names, .. }, look) in found.iter().zip(looks) {
        if let Look::Here(record, counts) = look
            && let Held::Together(_) = record.held()
        {
            let shares = Argument::Name(names.of(RecordKind::Shares));
            commands.push(vec![Argument::Text("ZCARD"), shares]);
            shared.push(counts);
        }
    }
    if commands.is_empty() {
        return Ok(());
    }
    let Answers { values, .. } = node.ask_all(&commands, until).await?;
    for (counts, value) in shared.into_iter().zip(values) {
        // The sum is a member, too.
        counts.shares = usize::try_from(count(&value).saturating_sub(1)).unwrap_or(usize::MAX);
    }
    Ok(())
}

/// The state of a found lock; `None` if it is free by now.
pub(in crate::backend::redis) fn state(
    key: LockKey,
    record: &LockRecord,
    counts: Counts,
) -> Option<LockState> {
    let mut state = LockState::free(key);
    match record.held() {
        Held::Free => return None,
        Held::Alone(holder) => state.holders.push(holder),
        Held::Together(holder) => {
            state.holders.push(holder);
            state.more_holders = counts.shares.saturating_sub(1);
        }
    }
    state.more_waiters = counts.waiters;
    Some(state)
}

/// The lock with this name. Names of records beside locks, and all that no lock of this crate can have, are `None`.
pub(in crate::backend::redis) fn lock_of(name: &[u8], prefix: &str) -> Option<Found> {
    let name = std::str::from_utf8(name).ok()?;
    let key = LockKey::from(name.strip_prefix(prefix)?);
    let names = RecordNames::new(prefix, &key).ok()?;
    Some(Found { key, names })
}

/// The next cursor, and the names that a node has found.
fn parse(answer: &Value) -> Option<(String, Vec<Vec<u8>>)> {
    let Value::Array(parts) = answer else {
        return None;
    };
    let [Value::BulkString(cursor), Value::Array(names)] = &parts[..] else {
        return None;
    };
    let name = |name: &Value| match name {
        Value::BulkString(name) => Some(name.clone()),
        _ => None,
    };
    let cursor = String::from_utf8(cursor.clone()).ok()?;
    Some((cursor, names.iter().filter_map(name).collect()))
}

fn unknown() -> NodeError {
    NodeError::Final(WireError::refused(
        "the server's answer to a listing is one that this version does not know",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_beside_locks_are_no_locks() {
        let is_lock = |name: &str, prefix| lock_of(name.as_bytes(), prefix).is_some();
        assert!(is_lock("lock:order:42", "lock:"));
        assert!(
            is_lock("lock:a\nb\u{1f}c", "lock:"),
            "control characters are data"
        );
        assert!(
            is_lock("lock:user:f", "lock:"),
            "a suffix is reserved behind a tag alone"
        );
        for name in [
            "lock:",
            "{lock:order:42}:f",
            "lock:{order}:42:f",
            "lock:{order}:42:w",
            "lock:{order}:42:r",
        ] {
            assert!(!is_lock(name, "lock:"), "{name}");
        }
        for name in ["{order:42}:f", "{order:42}:w", "{}:audit", "{}:n", ""] {
            assert!(!is_lock(name, ""), "{name}");
        }
        assert!(lock_of(b"lock:\xff", "lock:").is_none());
        let long = format!("lock:{}", "x".repeat(513));
        assert!(!is_lock(&long, "lock:"), "no call can ask for it");
    }

    #[test]
    fn answer_has_a_cursor_and_names() {
        let text = |text: &str| Value::BulkString(text.into());
        let answer = Value::Array(vec![text("7"), Value::Array(vec![text("a"), Value::Nil])]);
        assert_eq!(parse(&answer), Some(("7".to_owned(), vec![b"a".to_vec()])));
        assert_eq!(parse(&Value::Array(vec![text("7")])), None);
    }
}
