//! The record of a lock, as seen by a client that does not hold the lock.

use std::time::Duration;

use redis::Value;

use crate::lease::fencing_token::FencingToken;
use crate::lease::owner_id::OwnerId;
use crate::lease::record::{self, is_reserved};
use crate::state::{Holder, HolderKind, HolderRef, RecordHash};

/// How far a token may normally be ahead of the clock (µs): clients of a quorum propose tokens slightly ahead of it,
/// and nodes accept nothing beyond this.
const AHEAD: u64 = 1_000_000;

/// How many bytes of a record are read, since another program's value may have megabytes.
pub(in crate::backend::redis) const SHOWN: i64 = 512;

/// The value under a lock's key, and its metadata.
#[derive(Clone, Debug, Default)]
pub(in crate::backend::redis) struct StringRecord {
    /// `None` if the key holds another type.
    pub(in crate::backend::redis) value: Option<Vec<u8>>,
    /// The length of the whole value in bytes.
    pub(in crate::backend::redis) length: u64,
    /// The answer to PTTL: −2 without a key, −1 without an expiry.
    pub(in crate::backend::redis) left: i64,
    /// The server's time (µs).
    pub(in crate::backend::redis) now: u64,
}

/// How a lock is held.
#[derive(Debug)]
pub(in crate::backend::redis) enum Held {
    Free,
    /// By one holder, or by anything else that excludes callers.
    Alone(Holder),
    /// By several owners in the record of shares. This holder stands for each of them.
    Together(Holder),
}

impl StringRecord {
    /// Parses the answers to GETRANGE of [`SHOWN`] bytes and to PTTL. If the record has another type, the first is an
    /// error.
    pub(in crate::backend::redis) fn new(value: Value, left: &Value, now: u64) -> StringRecord {
        let value = match value {
            Value::BulkString(value) => Some(value),
            _ => None,
        };
        let left = match left {
            Value::Int(left) => *left,
            _ => -2,
        };
        let length = value.as_ref().map_or(0, |value| value.len() as u64);
        StringRecord {
            value,
            length,
            left,
            now,
        }
    }

    /// Returns how long ago a time was (µs since 1970), by the server's clock.
    pub(super) fn since(&self, time: f64) -> Duration {
        Duration::from_micros((self.now as f64 - time).max(0.0) as u64)
    }

    /// Parses the answer to STRLEN.
    pub(in crate::backend::redis) fn set_length(&mut self, length: &Value) {
        if let Value::Int(length) = length {
            self.length = u64::try_from(*length).unwrap_or(0);
        }
    }

    /// Returns whether the value may be longer than the part that was read.
    pub(in crate::backend::redis) fn may_be_longer(&self) -> bool {
        self.length >= SHOWN as u64
    }

    /// Returns whether callers may queue for the lock. A record of this crate shows whether any do.
    pub(in crate::backend::redis) fn may_have_waiters(&self) -> bool {
        let grant = self.value.as_deref().and_then(record::grant_of);
        !self.is_absent() && grant.is_none_or(|grant| grant.contended)
    }

    /// Returns whether several owners share the lock.
    pub(in crate::backend::redis) fn is_shared(&self) -> bool {
        let value = self.value.as_deref().unwrap_or_default();
        record::is_shared(value) && record::grant_of(value).is_some()
    }

    pub(in crate::backend::redis) fn is_absent(&self) -> bool {
        self.left == -2
    }

    pub(in crate::backend::redis) fn held(&self) -> Held {
        if self.is_absent() {
            return Held::Free;
        }
        let Some(value) = &self.value else {
            return Held::Alone(self.holder(String::new(), HolderKind::OtherType, None));
        };
        match record::Holder::parse(value) {
            record::Holder::Ours(label) => {
                let kind = if is_reserved(value) {
                    HolderKind::Reserved
                } else {
                    HolderKind::Exclusive
                };
                Held::Alone(self.of_grant(value, label, kind))
            }
            record::Holder::Shared(shared) => {
                Held::Together(self.of_grant(value, shared.label, HolderKind::Share))
            }
            record::Holder::Foreign(_) | record::Holder::Redisson(_) => {
                let reference = HolderRef::Record(self.hash());
                Held::Alone(self.holder(String::new(), HolderKind::Foreign, Some(reference)))
            }
        }
    }

    /// Returns a hash that identifies the record without showing it.
    pub(in crate::backend::redis) fn hash(&self) -> RecordHash {
        let value = self.value.as_deref().unwrap_or_default();
        RecordHash::of([value, &self.length.to_le_bytes()])
    }

    /// Returns the token in a record of this crate.
    pub(in crate::backend::redis) fn token(&self) -> Option<FencingToken> {
        token_of(self.value.as_deref()?)
    }

    /// Returns the part that identifies the owner: its id, or the whole value of another program.
    pub(in crate::backend::redis) fn owner(&self) -> Option<&[u8]> {
        let value = self.value.as_deref().filter(|_| !self.is_absent())?;
        match record::grant_of(value) {
            Some(_) => value.get(..OwnerId::LEN),
            None => Some(value),
        }
    }

    fn of_grant(&self, value: &[u8], label: String, kind: HolderKind) -> Holder {
        let token = token_of(value);
        let owner = RecordHash::of(self.owner());
        let reference = token.map_or(HolderRef::Record(owner), HolderRef::Token);
        let mut holder = self.holder(label, kind, Some(reference));
        holder.hash = Some(owner);
        holder.token = token;
        holder.age = record::grant_of(value)
            .and_then(|grant| (self.now + AHEAD).checked_sub(grant.token.time()))
            .map(|age| Duration::from_micros(age.saturating_sub(AHEAD)));
        holder
    }

    fn holder(&self, label: String, kind: HolderKind, reference: Option<HolderRef>) -> Holder {
        Holder {
            label,
            token: None,
            age: None,
            remaining: u64::try_from(self.left).ok().map(Duration::from_millis),
            kind,
            permits: 1,
            reference,
            other_tokens: Vec::new(),
            hash: None,
        }
    }
}

fn token_of(value: &[u8]) -> Option<FencingToken> {
    let token = record::grant_of(value).map(|grant| grant.token);
    token.filter(|token| token.is_minted())
}

/// Parses the server's time (µs) from the answer to TIME.
pub(in crate::backend::redis) fn micros(time: &Value) -> Option<u64> {
    let Value::Array(parts) = time else {
        return None;
    };
    let number = |part: &Value| match part {
        Value::BulkString(digits) => std::str::from_utf8(digits).ok()?.parse::<u64>().ok(),
        Value::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    let (seconds, micros) = (number(parts.first()?)?, number(parts.get(1)?)?);
    seconds.checked_mul(1_000_000)?.checked_add(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000_000;

    fn record(value: &str, left: i64) -> StringRecord {
        StringRecord::new(Value::BulkString(value.into()), &Value::Int(left), NOW)
    }

    fn alone(record: &StringRecord) -> Holder {
        match record.held() {
            Held::Alone(holder) => holder,
            held => panic!("{held:?}"),
        }
    }

    #[test]
    fn age_is_the_time_since_the_token() {
        let holder = alone(&record(
            "abcdefghABCDEFGH012345+1699999999000000 api-7 ship",
            700,
        ));
        assert_eq!(
            (holder.label.as_str(), holder.kind),
            ("api-7 ship", HolderKind::Exclusive)
        );
        assert_eq!(holder.age, Some(Duration::from_secs(1)));
        assert_eq!(holder.remaining, Some(Duration::from_millis(700)));
        let guessed = alone(&record("abcdefghABCDEFGH012345 1700000000000001 a", 700));
        assert_eq!(guessed.age, Some(Duration::ZERO));
        assert_eq!(guessed.token, Some(FencingToken::new(NOW + 1)));
        let ahead = alone(&record("abcdefghABCDEFGH012345 1700000001000001 a", 700));
        assert_eq!(ahead.age, None);
    }

    #[test]
    fn record_of_another_program_is_named_and_not_shown() {
        let foreign = record("secret-of-redis-py", -1);
        let holder = alone(&foreign);
        assert_eq!((holder.kind, holder.remaining), (HolderKind::Foreign, None));
        assert!(!format!("{holder:?}").contains("secret"));
        assert_eq!(holder.reference, Some(HolderRef::Record(foreign.hash())));
        assert_ne!(foreign.hash(), record("secret-of-redis-pz", -1).hash());
    }

    #[test]
    fn longer_value_with_the_same_beginning_has_another_name() {
        let mut longer = record("secret", 1);
        longer.length += 1;
        assert_ne!(longer.hash(), record("secret", 1).hash());
    }

    #[test]
    fn record_of_another_type_keeps_callers_out() {
        let list = StringRecord::new(Value::Nil, &Value::Int(-1), NOW);
        let holder = alone(&list);
        assert_eq!(
            (holder.kind, holder.reference),
            (HolderKind::OtherType, None)
        );
    }

    #[test]
    fn reserved_and_shared_locks_are_distinguished() {
        let reserved = alone(&record("rested1699999999000000 1699999999000000 api-7", 5));
        assert_eq!(reserved.kind, HolderKind::Reserved);
        let shared = record("shared1699999999000000 1699999999000000 shared: api-7", 5);
        assert!(matches!(shared.held(), Held::Together(_)));
    }

    #[test]
    fn record_shows_whether_more_must_be_read() {
        let asks = |value: &str, left| {
            let record = record(value, left);
            (record.may_have_waiters(), record.is_shared())
        };
        let waited_for = "abcdefghABCDEFGH012345+1699999999000000 api-7";
        assert_eq!(asks(waited_for, 5), (true, false));
        let alone = "abcdefghABCDEFGH012345 1699999999000000 api-7";
        assert_eq!(asks(alone, 5), (false, false));
        let shared = "shared1699999999000000 1699999999000000 shared: api-7";
        assert_eq!(asks(shared, 5), (false, true));
        assert_eq!(asks("of another program", -1), (true, false));
        assert_eq!(asks("shared by another program", -1), (true, false));
        assert_eq!(asks("", -2), (false, false), "absent");
        assert!(!record(&"x".repeat(511), 5).may_be_longer());
        assert!(record(&"x".repeat(512), 5).may_be_longer());
    }

    #[test]
    fn absent_key_is_a_free_lock() {
        assert!(matches!(record("", -2).held(), Held::Free));
        assert!(
            matches!(alone(&record("", 5)).kind, HolderKind::Foreign),
            "an empty value is a record"
        );
    }

    #[test]
    fn time_is_read_in_microseconds() {
        let text = |text: &str| Value::BulkString(text.into());
        let time = Value::Array(vec![text("1700000000"), text("7")]);
        assert_eq!(micros(&time), Some(NOW + 7));
        assert_eq!(micros(&Value::Nil), None);
    }
}
