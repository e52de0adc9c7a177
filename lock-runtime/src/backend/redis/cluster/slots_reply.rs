//! Parses the answer to `CLUSTER SLOTS`.

use std::ops::RangeInclusive;

use redis::Value;

use super::node_name::NodeName;
use crate::backend::redis::decoder::text;
use crate::key::SLOTS;

/// A range of slots, its primary, and the primary's replicas.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SlotRange {
    pub(super) slots: RangeInclusive<u16>,
    pub(super) primary: NodeName,
    pub(super) replicas: Vec<NodeName>,
}

/// The answer of one node.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SlotsReply {
    pub(super) ranges: Vec<SlotRange>,
    /// The slots of primaries whose port the answering node does not know. It has not heard from such a node yet, and
    /// so lacks its TLS port.
    pub(super) unnamed: Vec<RangeInclusive<u16>>,
}

impl SlotsReply {
    /// Returns whether the answer names the primary of a slot.
    fn names(&self, slot: u16) -> bool {
        self.ranges.iter().any(|range| range.slots.contains(&slot))
    }
}

/// Returns whether each slot that one node cannot place is placed by another.
pub(super) fn are_complete(replies: &[SlotsReply]) -> bool {
    let mut unnamed = replies.iter().flat_map(|reply| &reply.unnamed);
    unnamed.all(|slots| replies.iter().any(|reply| reply.names(*slots.start())))
}

/// Parses the answer of a node that was reached at `asked`. Returns `None` if it is malformed.
pub(super) fn parse(answer: &Value, asked: &str) -> Option<SlotsReply> {
    let mut reply = SlotsReply::default();
    for range in list(answer)? {
        let [first, last, primary, replicas @ ..] = list(range)? else {
            return None;
        };
        let slots = slot(first)?..=slot(last)?;
        // A replica without a port cannot be asked.
        let replicas = replicas.iter().filter_map(|node| name(node, asked)?);
        match name(primary, asked)? {
            Some(primary) => reply.ranges.push(SlotRange {
                slots,
                primary,
                replicas: replicas.collect(),
            }),
            None => reply.unnamed.push(slots),
        }
    }
    Some(reply)
}

/// Parses a node: `[host, port, id, metadata]`. Returns `Some(None)` if it has no port.
///
/// A missing host stands for the node that was asked. `?` stands for a hostname that is preferred but not set; then the
/// address is in the metadata.
fn name(node: &Value, asked: &str) -> Option<Option<NodeName>> {
    let [host, port, rest @ ..] = list(node)? else {
        return None;
    };
    let Value::Int(port) = port else { return None };
    let port = u16::try_from(*port).ok()?;
    let host = match text(host) {
        None | Some("") => asked,
        Some("?") => rest.get(1).and_then(address).unwrap_or(asked),
        Some(host) => host,
    };
    Some((port != 0).then(|| NodeName::new(host, port)))
}

/// Finds the address in a node's metadata, which is a map, or a list of names and values.
fn address(metadata: &Value) -> Option<&str> {
    if let Value::Map(fields) = metadata {
        let mut fields = fields.iter();
        return fields.find_map(|(name, value)| text(value).filter(|_| text(name) == Some("ip")));
    }
    let pairs = list(metadata)?.chunks_exact(2);
    pairs
        .filter(|pair| text(&pair[0]) == Some("ip"))
        .find_map(|pair| text(&pair[1]))
}

fn slot(value: &Value) -> Option<u16> {
    let Value::Int(slot) = value else { return None };
    u16::try_from(*slot)
        .ok()
        .filter(|&slot| usize::from(slot) < SLOTS)
}

fn list(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(values) => Some(values),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    fn node(host: Value, port: i64, metadata: Value) -> Value {
        Value::Array(vec![host, Value::Int(port), bulk("id"), metadata])
    }

    fn none() -> Value {
        Value::Array(Vec::new())
    }

    fn range(first: i64, last: i64, nodes: Vec<Value>) -> Value {
        let mut range = vec![Value::Int(first), Value::Int(last)];
        range.extend(nodes);
        Value::Array(range)
    }

    #[test]
    fn ranges_have_a_primary_and_replicas() {
        let answer = Value::Array(vec![
            range(
                0,
                5460,
                vec![
                    node(bulk("10.0.0.1"), 7000, none()),
                    node(bulk("10.0.0.2"), 7001, none()),
                ],
            ),
            range(5461, 16_383, vec![node(bulk("::1"), 7002, none())]),
        ]);
        let SlotsReply { ranges, unnamed } = parse(&answer, "seed").unwrap();
        assert_eq!(unnamed, []);
        assert_eq!(
            ranges,
            [
                SlotRange {
                    slots: 0..=5460,
                    primary: NodeName::new("10.0.0.1", 7000),
                    replicas: vec![NodeName::new("10.0.0.2", 7001)],
                },
                SlotRange {
                    slots: 5461..=16_383,
                    primary: NodeName::new("::1", 7002),
                    replicas: Vec::new(),
                },
            ]
        );
        assert_eq!(ranges[1].primary.to_string(), "[::1]:7002");
    }

    #[test]
    fn missing_host_is_the_host_that_was_asked() {
        let host = |node: Value| {
            let answer = Value::Array(vec![range(0, 1, vec![node])]);
            let mut reply = parse(&answer, "seed").unwrap();
            reply.ranges.remove(0).primary.host.to_string()
        };
        assert_eq!(host(node(Value::Nil, 7000, none())), "seed");
        assert_eq!(host(node(bulk(""), 7000, none())), "seed");
        let list = Value::Array(vec![bulk("ip"), bulk("10.0.0.9")]);
        assert_eq!(host(node(bulk("?"), 7000, list)), "10.0.0.9");
        let map = Value::Map(vec![(bulk("ip"), bulk("10.0.0.8"))]);
        assert_eq!(host(node(bulk("?"), 7000, map)), "10.0.0.8");
        assert_eq!(host(node(bulk("?"), 7000, none())), "seed");
    }

    #[test]
    fn slots_of_a_primary_without_a_port_are_unnamed() {
        let nodes = |port| vec![node(bulk("h"), port, none())];
        let of = |ports: [i64; 2]| {
            let [first, second] = ports;
            let answer = vec![range(0, 1, nodes(first)), range(2, 3, nodes(second))];
            parse(&Value::Array(answer), "seed").unwrap()
        };
        let reply = of([0, 7000]);
        assert_eq!(reply.unnamed, [0..=1]);
        assert_eq!(reply.ranges.len(), 1);
        assert_eq!(reply.ranges[0].slots, 2..=3);
        assert!(!are_complete(&[reply]));
        assert!(!are_complete(&[of([0, 7000]), of([0, 7000])]));
        assert!(are_complete(&[of([0, 7000]), of([7001, 0])]));
        assert!(are_complete(&[of([7001, 7000])]));
    }

    #[test]
    fn malformed_answer_is_refused() {
        let primary = || node(bulk("h"), 7000, none());
        for answer in [
            Value::Nil,
            Value::Array(vec![Value::Int(0)]),
            Value::Array(vec![range(0, 16_384, vec![primary()])]),
            Value::Array(vec![range(-1, 1, vec![primary()])]),
            Value::Array(vec![range(0, 1, Vec::new())]),
            Value::Array(vec![range(0, 1, vec![node(bulk("h"), 65_536, none())])]),
        ] {
            assert_eq!(parse(&answer, "seed"), None, "{answer:?}");
        }
        let empty = parse(&Value::Array(Vec::new()), "seed");
        assert_eq!(empty, Some(SlotsReply::default()));
    }
}
