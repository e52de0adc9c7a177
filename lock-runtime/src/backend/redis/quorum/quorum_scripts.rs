//! The scripts for a quorum's nodes, and parsers for their answers.

use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use redis::Value;

use super::ballot::node_command::{HolderId, NodeReply};
use crate::backend::redis::fence_retention::{FenceRetention, PerMemory};
use crate::backend::redis::scripts::{
    OF_QUEUE, Script, parse_grant, parse_waiting, unknown_answer,
};
use crate::backend::redis::sources;
use crate::backend::wire::error::WireError;
use crate::lease::Mode;
use crate::lease::owner_id::OwnerId;
use crate::lease::record::{Grant, Holder};

/// The scripts for a quorum's nodes. Renewals and releases use the scripts for a single server.
pub(super) struct QuorumScripts {
    pub(super) acquire: Script,
    pub(super) yielding: Script,
    pub(super) hold: Script,
    pub(super) end: Script,
    /// Takes the lock from its owner.
    pub(super) revoke: Script,
}

impl QuorumScripts {
    /// Returns the scripts of clients with this fence retention.
    pub(super) fn with(memory: FenceRetention) -> &'static QuorumScripts {
        static ALL: PerMemory<QuorumScripts> = PerMemory::new();
        ALL.get(memory, QuorumScripts::new)
    }

    fn new(memory: FenceRetention) -> QuorumScripts {
        let script = |source| Script::of_node(OF_QUEUE, &memory.source(source));
        QuorumScripts {
            acquire: script(sources::QUORUM_ACQUIRE),
            yielding: script(sources::QUORUM_YIELD),
            hold: script(sources::QUORUM_HOLD),
            end: script(sources::QUORUM_END),
            revoke: script(sources::QUORUM_REVOKE),
        }
    }
}

/// Parses the answer of a node, and the node's time (µs).
pub(super) fn parse_reply(value: Value, script: &str) -> Result<(NodeReply, u64), WireError> {
    let reply = match &value {
        Value::Array(parts) => match &parts[..] {
            [grant @ Value::BulkString(_), Value::Int(now)] => {
                let held = parse_grant(grant).map(NodeReply::Held);
                held.zip(u64::try_from(*now).ok())
            }
            [Value::Int(left), Value::Int(now)] => {
                let early = millis(*left).map(NodeReply::Early);
                early.zip(u64::try_from(*now).ok())
            }
            [position @ .., Value::Int(now)] => {
                parse_position(position).zip(u64::try_from(*now).ok())
            }
            _ => None,
        },
        _ => None,
    };
    reply.ok_or_else(|| unknown_answer(script))
}

/// Parses the answer to a `hold`; `None` if another owner has the node.
pub(super) fn parse_hold(value: &Value) -> Result<Option<Grant>, WireError> {
    match value {
        Value::Nil => Ok(None),
        Value::Array(parts) => {
            let grant = parts.first().and_then(parse_grant);
            grant.map(Some).ok_or_else(|| unknown_answer("hold"))
        }
        _ => Err(unknown_answer("hold")),
    }
}

/// The answer of a marked node.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marked {
    /// How long the node will not vote yet.
    pub(super) left: Duration,
    /// The node's time (µs).
    pub(super) now: u64,
    /// The name of the node's count, and how long it has run; `None` if the node votes.
    pub(super) count: Option<(String, Duration)>,
}

pub(super) fn parse_mark(value: &Value) -> Result<Marked, WireError> {
    let parts = match value {
        Value::Array(parts) => &parts[..],
        _ => &[],
    };
    let marked = match parts {
        [Value::Int(left), Value::Int(now), count @ ..] => {
            let count = match count {
                [] => Some(None),
                [Value::BulkString(name), Value::Int(waited)] => {
                    let name = String::from_utf8(name.clone()).ok();
                    name.zip(millis(*waited)).map(Some)
                }
                _ => None,
            };
            let times = millis(*left).zip(u64::try_from(*now).ok());
            times.zip(count)
        }
        _ => None,
    };
    let marked = marked.map(|((left, now), count)| Marked { left, now, count });
    marked.ok_or_else(|| unknown_answer("mark"))
}

fn millis(number: i64) -> Option<Duration> {
    u64::try_from(number).ok().map(Duration::from_millis)
}

fn parse_position(parts: &[Value]) -> Option<NodeReply> {
    let Value::BulkString(value) = parts.get(2)? else {
        return None;
    };
    let waiting = parse_waiting(parts, 0, Mode::Exclusive)?;
    if value.is_empty() {
        return Some(NodeReply::Absent);
    }
    let holder = holder_id(value, &waiting.holder);
    Some(NodeReply::Waiting { holder, waiting })
}

/// One owner's records may differ between nodes, because their tokens may.
fn holder_id(value: &[u8], holder: &Holder) -> HolderId {
    let of_owner = match holder {
        Holder::Foreign(_) => value,
        _ => &value[..value.len().min(OwnerId::LEN)],
    };
    let mut hasher = DefaultHasher::new();
    hasher.write(of_owner);
    HolderId(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lease::fencing_token::FencingToken;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn vote_has_a_token_and_a_node_without_a_vote_has_its_delay() {
        let value = Value::Array(vec![bulk("+0001234567890123"), Value::Int(99)]);
        let (reply, now) = parse_reply(value, "acquire").unwrap();
        let NodeReply::Held(grant) = reply else {
            panic!("{reply:?}");
        };
        assert_eq!(grant.token, FencingToken::new(1_234_567_890_123));
        assert!(grant.contended);
        assert_eq!(now, 99);
        let value = Value::Array(vec![Value::Int(7), Value::Int(99)]);
        let (reply, now) = parse_reply(value, "acquire").unwrap();
        assert!(
            matches!(reply, NodeReply::Early(left) if left == Duration::from_millis(7)),
            "{reply:?}"
        );
        assert_eq!(now, 99);
    }

    #[test]
    fn mark_has_the_length_of_the_count() {
        let counts = [
            Value::Int(7),
            Value::Int(99),
            bulk("count"),
            Value::Int(1_000),
        ];
        let marked = parse_mark(&Value::Array(counts.to_vec())).unwrap();
        let left = Duration::from_millis(7);
        let count = Some(("count".to_owned(), Duration::from_secs(1)));
        let now = 99;
        assert_eq!(marked, Marked { left, now, count });
        let votes = Value::Array(vec![Value::Int(0), Value::Int(99)]);
        assert_eq!(parse_mark(&votes).unwrap().count, None);
    }

    #[test]
    fn holder_is_the_same_on_nodes_with_other_tokens() {
        let holder = |record: &str| {
            let parts = vec![Value::Int(5), Value::Int(1), bulk(record), Value::Int(99)];
            match parse_reply(Value::Array(parts), "acquire").unwrap().0 {
                NodeReply::Waiting { holder, waiting } => (holder, waiting.holder),
                reply => panic!("{reply:?}"),
            }
        };
        let (first, shown) = holder("abcdefghABCDEFGH012345+0001234567890123 api-7");
        let (second, _) = holder("abcdefghABCDEFGH012345 0001234567890139 api-7");
        assert_eq!(first, second);
        assert_eq!(shown, Holder::Ours("api-7".to_owned()));
        let (foreign, _) = holder("3f2504e04f8911d39a0c");
        let (another, _) = holder("3f2504e04f8911d39a0d");
        assert_ne!(foreign, another);
    }

    #[test]
    fn answers_of_another_shape_are_refused() {
        for value in [
            Value::Nil,
            Value::Int(1),
            Value::Array(vec![]),
            Value::Array(vec![Value::Int(5)]),
            Value::Array(vec![bulk("x"), Value::Int(1)]),
            Value::Array(vec![Value::Int(-1), Value::Int(1)]),
            Value::Array(vec![
                Value::Int(5),
                Value::Int(1),
                Value::Int(7),
                Value::Int(9),
            ]),
        ] {
            let text = format!("{value:?}");
            assert!(parse_reply(value, "acquire").is_err(), "{text}");
        }
        assert!(parse_hold(&Value::Int(1)).is_err());
        let parts = |parts: &[Value]| Value::Array(parts.to_vec());
        for value in [
            Value::Nil,
            parts(&[Value::Int(1), Value::Int(1), bulk("count")]),
            parts(&[Value::Int(1), Value::Int(1), bulk("count"), Value::Int(-1)]),
        ] {
            assert!(parse_mark(&value).is_err(), "{value:?}");
        }
    }
}
