//! Parses and compares the sentinels' answers about the primary.

use std::collections::HashMap;

use redis::{Value, from_redis_value, from_redis_value_ref};

use crate::control::is_removed;

/// The address of a primary, according to a sentinel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::backend::redis) struct Primary {
    pub(super) host: String,
    pub(super) port: u16,
}

/// The answer of one sentinel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) primary: Primary,
    /// Rises with each failover. A sentinel that missed a failover has a lower one.
    pub(super) epoch: u64,
    /// The number of the sentinel.
    pub(super) by: usize,
}

impl Primary {
    /// Parses the answer to `SENTINEL GET-MASTER-ADDR-BY-NAME`. Returns `None` if the sentinel does not know the name.
    pub(super) fn parse(answer: &Value) -> Option<Primary> {
        let [host, port] = from_redis_value_ref::<[String; 2]>(answer).ok()?;
        let port = port.parse().ok()?;
        Some(Primary { host, port })
    }
}

/// Parses the epoch from the answer to `SENTINEL MASTER`.
pub(super) fn parse_epoch(answer: Value) -> Option<u64> {
    // The fields are in pairs, in RESP2 and RESP3.
    let fields: HashMap<String, String> = from_redis_value(answer).ok()?;
    fields.get("config-epoch")?.parse().ok()
}

/// Returns the answers with the highest epoch. Sentinels that missed a failover do not count, however many they are:
/// the primary that they name may still consider itself one.
pub(super) fn newest(answers: &[Named]) -> Vec<&Named> {
    let highest = answers.iter().map(|named| named.epoch).max();
    let is_newest = |named: &&Named| Some(named.epoch) == highest;
    let any = is_removed!(sentinels_epoch_compared);
    let newest = answers.iter().filter(|named| any || is_newest(named));
    newest.collect()
}

/// Returns the newest answer. If several primaries have the same epoch, which happens before their sentinels have met,
/// most sentinels decide, and then the order.
pub(super) fn choose(answers: &[Named]) -> Option<&Named> {
    let newest = newest(answers);
    let votes = |named: &Named| {
        let same = newest.iter().filter(|other| other.primary == named.primary);
        same.count()
    };
    newest
        .iter()
        .rev()
        .copied()
        .max_by_key(|named| votes(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(host: &str, epoch: u64, by: usize) -> Named {
        let primary = Primary {
            host: host.to_owned(),
            port: 6379,
        };
        Named { primary, epoch, by }
    }

    fn chosen(answers: &[(&str, u64)]) -> Option<String> {
        let answers = answers.iter().zip(0..);
        let answers: Vec<Named> = answers
            .map(|(&(host, epoch), by)| named(host, epoch, by))
            .collect();
        choose(&answers).map(|named| named.primary.host.clone())
    }

    #[test]
    fn highest_epoch_is_chosen_even_if_most_sentinels_are_stale() {
        assert_eq!(chosen(&[]), None);
        assert_eq!(chosen(&[("a", 0)]).as_deref(), Some("a"));
        assert_eq!(
            chosen(&[("old", 0), ("new", 1), ("old", 0)]).as_deref(),
            Some("new")
        );
        assert_eq!(chosen(&[("new", 11), ("old", 9)]).as_deref(), Some("new"));
    }

    #[test]
    fn primary_of_most_sentinels_is_chosen_within_an_epoch() {
        assert_eq!(
            chosen(&[("a", 1), ("b", 1), ("b", 1), ("c", 0), ("c", 0), ("c", 0)]).as_deref(),
            Some("b")
        );
        assert_eq!(
            chosen(&[("a", 1), ("b", 1)]).as_deref(),
            Some("a"),
            "the first"
        );
    }

    #[test]
    fn answers_of_either_protocol_are_read() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let address = Value::Array(vec![text("::1"), text("6380")]);
        let expected = Primary {
            host: "::1".to_owned(),
            port: 6380,
        };
        assert_eq!(Primary::parse(&address), Some(expected));
        assert_eq!(Primary::parse(&Value::Nil), None);
        let fields = [("name", "mymaster"), ("config-epoch", "7")];
        let pairs = fields.map(|(key, value)| (text(key), text(value)));
        let list = pairs
            .clone()
            .into_iter()
            .flat_map(|(key, value)| [key, value]);
        assert_eq!(parse_epoch(Value::Array(list.collect())), Some(7));
        assert_eq!(parse_epoch(Value::Map(pairs.to_vec())), Some(7));
        assert_eq!(parse_epoch(Value::Map(Vec::new())), None);
    }
}
