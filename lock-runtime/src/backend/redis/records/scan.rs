//! Lists the locks of one node, page by page.

use std::time::{Duration, Instant};

use redis::Value;

use super::snapshot::{count, first_from, scored};
use super::string_record::{Held, SHOWN, StringRecord, micros};
use crate::backend::redis::connection::Connection;
use crate::backend::redis::encoder::{self, Argument};
use crate::backend::redis::node::queries::{Answers, Command, is_of_another_type};
use crate::backend::redis::node::{Node, NodeError};
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{Listing, Position};
use crate::key::{LockKey, RecordKind, RecordNames};
use crate::state::LockState;

/// How often a page may start over because the connection was replaced.
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
    Here(StringRecord, Counts),
    /// Another node has the lock by now.
    Elsewhere,
}

/// What the record itself does not show: the numbers of waiters and shares, and how long the first waiter has waited.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::backend::redis) struct Counts {
    pub(in crate::backend::redis) waiters: usize,
    pub(in crate::backend::redis) wait: Option<Duration>,
    pub(in crate::backend::redis) shares: usize,
}

/// Returns the names of the next locks of a node, and the cursor after them, which is `None` at the end.
///
/// A cursor is valid only for its server, and the next connection may lead to another one. Then the node is read again
/// from the start: it is better to show locks twice than not at all.
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
        let (cursor, names) = parse(answer).ok_or_else(unknown)?;
        let mut found: Vec<Found> = names
            .into_iter()
            .filter_map(|name| lock_of(name, &listing.prefix))
            .collect();
        found.sort_by(|one, other| one.key.as_str().cmp(other.key.as_str()));
        // A server may repeat a key in one answer.
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

/// Returns the records of locks on one node.
pub(in crate::backend::redis) async fn look(
    node: &Node,
    found: &[Found],
    until: Instant,
) -> Result<Vec<Look>, NodeError> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let write = |output: &mut Vec<u8>| {
        let (text, last) = (Argument::Text, Argument::Number(SHOWN - 1));
        encoder::write(output, &[text("TIME")]);
        for Found { names, .. } in found {
            let lock = Argument::Name(names.of(RecordKind::Lock));
            encoder::write(output, &[text("GETRANGE"), lock, text("0"), last]);
            encoder::write(output, &[text("PTTL"), lock]);
        }
    };
    let asked = node.ask_written(1 + 2 * found.len(), &write, until);
    let Answers { connection, values } = asked.await?;
    let mut values = values.into_iter();
    let time = values.next().ok_or_else(unknown)?;
    if let Some(error) = node.error_in(&connection, &time) {
        return Err(error);
    }
    let now = micros(&time).ok_or_else(unknown)?;
    let mut looks = Vec::with_capacity(found.len());
    while let Some(value) = values.next() {
        let left = values.next().ok_or_else(unknown)?;
        let is_elsewhere = is_elsewhere(node, &connection, &[&value, &left])?;
        looks.push(if is_elsewhere {
            Look::Elsewhere
        } else {
            Look::Here(StringRecord::new(value, &left, now), Counts::default())
        });
    }
    look_beside(node, found, &mut looks, until).await?;
    Ok(looks)
}

/// The query about a lock whose record does not show everything.
#[derive(Clone, Copy)]
enum Beside {
    Length,
    Waiters,
    FirstWaiter,
    Shares,
}

/// Asks for the waiters and shares that the records do not show. Most records show everything, which saves half of the
/// commands.
async fn look_beside(
    node: &Node,
    found: &[Found],
    looks: &mut [Look],
    until: Instant,
) -> Result<(), NodeError> {
    let mut asked = Vec::new();
    let mut commands: Vec<Command<'_>> = Vec::new();
    for (place, (Found { names, .. }, look)) in found.iter().zip(&*looks).enumerate() {
        let Look::Here(record, _) = look else {
            continue;
        };
        let name = |kind| Argument::Name(names.of(kind));
        let mut ask = |beside, command| {
            asked.push((place, beside));
            commands.push(command);
        };
        let text = Argument::Text;
        if record.may_be_longer() {
            ask(Beside::Length, vec![text("STRLEN"), name(RecordKind::Lock)]);
        }
        if record.may_have_waiters() {
            let queue = name(RecordKind::Queue);
            ask(Beside::Waiters, vec![text("ZCARD"), queue]);
            ask(Beside::FirstWaiter, first_from(queue, text("0"), 1));
        }
        if record.is_shared() {
            ask(
                Beside::Shares,
                vec![text("ZCARD"), name(RecordKind::Shares)],
            );
        }
    }
    if commands.is_empty() {
        return Ok(());
    }
    let Answers { connection, values } = node.ask_all(&commands, until).await?;
    for ((place, beside), value) in asked.into_iter().zip(values) {
        let look = &mut looks[place];
        if is_elsewhere(node, &connection, &[&value])? {
            *look = Look::Elsewhere;
        }
        let Look::Here(record, counts) = look else {
            continue;
        };
        let size = |members: u64| usize::try_from(members).unwrap_or(usize::MAX);
        match beside {
            Beside::Length => record.set_length(&value),
            // The queue has two members for each waiter.
            Beside::Waiters => counts.waiters = size(count(&value) / 2),
            Beside::FirstWaiter => {
                let first = scored(&value).first().map(|(_, ticket)| *ticket);
                counts.wait = first.map(|ticket| record.since(ticket));
            }
            // One of the members is the sum.
            Beside::Shares => counts.shares = size(count(&value).saturating_sub(1)),
        }
    }
    Ok(())
}

/// Returns whether another node has a lock by now, according to one of the answers. A record of another type is not
/// such an error.
fn is_elsewhere(
    node: &Node,
    connection: &Connection,
    answers: &[&Value],
) -> Result<bool, NodeError> {
    for answer in answers {
        match node.error_in(connection, answer) {
            None => {}
            Some(NodeError::Redirected(..) | NodeError::SlotMoves(_)) => return Ok(true),
            Some(_) if is_of_another_type(answer) => {}
            Some(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Returns the state of a lock that was found; `None` if it is free by now.
pub(in crate::backend::redis) fn state(
    key: LockKey,
    record: &StringRecord,
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
    state.unseen_wait = counts.wait;
    Some(state)
}

/// Returns the lock with this record name. Returns `None` for secondary records, and for names that no lock of this
/// crate can have.
pub(in crate::backend::redis) fn lock_of(name: Vec<u8>, prefix: &str) -> Option<Found> {
    let name = String::from_utf8(name).ok()?;
    let key = LockKey::from(name.strip_prefix(prefix)?);
    RecordNames::check(&key).ok()?;
    let names = RecordNames::of_lock(name).ok()?;
    Some(Found { key, names })
}

/// Parses the next cursor, and the names that a node has found.
fn parse(answer: Value) -> Option<(String, Vec<Vec<u8>>)> {
    let Value::Array(parts) = answer else {
        return None;
    };
    let [Value::BulkString(cursor), Value::Array(names)] = <[Value; 2]>::try_from(parts).ok()?
    else {
        return None;
    };
    let name = |name: Value| match name {
        Value::BulkString(name) => Some(name),
        _ => None,
    };
    let cursor = String::from_utf8(cursor).ok()?;
    Some((cursor, names.into_iter().filter_map(name).collect()))
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
    fn other_records_are_not_locks() {
        let is_lock = |name: &str, prefix| lock_of(name.into(), prefix).is_some();
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
        assert!(lock_of(b"lock:\xff".to_vec(), "lock:").is_none());
        let long = format!("lock:{}", "x".repeat(513));
        assert!(!is_lock(&long, "lock:"), "no call can ask for it");
    }

    #[test]
    fn answer_has_a_cursor_and_names() {
        let text = |text: &str| Value::BulkString(text.into());
        let answer = Value::Array(vec![text("7"), Value::Array(vec![text("a"), Value::Nil])]);
        assert_eq!(parse(answer), Some(("7".to_owned(), vec![b"a".to_vec()])));
        assert_eq!(parse(Value::Array(vec![text("7")])), None);
    }
}
