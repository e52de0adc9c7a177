//! Operators' commands for locks in Redisson's record.

use std::time::{Duration, Instant};

use redis::Value;

use super::Redisson;
use super::redisson_scripts::REVOKE;
use crate::backend::redis::encoder::Argument;
use crate::backend::redis::node::queries::{Answers, Command, is_of_another_type};
use crate::backend::redis::node::{NodeError, Purpose, ScriptCall};
use crate::backend::redis::records::scan::{self, Found};
use crate::backend::redis::records::string_record::micros;
use crate::backend::redis::revoke_script;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::{Cursor, Listing, RevokeOrder, RevokeReply};
use crate::key::{LockKey, OneOrMore, RecordKind, RecordNames};
use crate::lease::record;
use crate::state::{Holder, HolderKind, HolderRef, LockState, RecordHash};

/// If a record has more fields, they are counted but not read. A lock's record has one field, or one for each reader.
const MOST_FIELDS: i64 = 128;

/// Redisson's field that describes how a lock is shared.
const MODE: &[u8] = b"mode";

/// The fields of a record, with their values.
type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// A Redisson record.
struct HashRecord {
    /// The answer to TYPE.
    kind: String,
    /// The answer to PTTL.
    left: i64,
    fields: Fields,
    /// The number of fields.
    length: i64,
}

impl HashRecord {
    /// Returns the state of the lock; `None` if it is free.
    fn state(&self, key: LockKey) -> Option<LockState> {
        let remaining = u64::try_from(self.left).ok().map(Duration::from_millis);
        let holder = |label: String, kind, reference| Holder {
            label,
            token: None,
            age: None,
            remaining,
            kind,
            permits: 1,
            reference,
            other_tokens: Vec::new(),
            hash: None,
        };
        let mut state = LockState::free(key);
        match self.kind.as_str() {
            "none" => return None,
            "hash" => {
                let reference = (!self.fields.is_empty()).then(|| HolderRef::Record(self.hash()));
                let owners = self.fields.iter().filter(|(field, _)| field != MODE);
                let labels = owners.map(|(field, _)| record::Holder::parse_field(field).describe());
                let holders = labels.map(|label| holder(label, HolderKind::Redisson, reference));
                state.holders.extend(holders);
                if state.holders.is_empty() {
                    // The fields were not read, since there are too many.
                    let all = usize::try_from(self.length).unwrap_or(0);
                    let kind = HolderKind::Redisson;
                    state.holders.push(holder(String::new(), kind, None));
                    state.more_holders = all.saturating_sub(1);
                }
            }
            _ => state
                .holders
                .push(holder(String::new(), HolderKind::OtherType, None)),
        }
        Some(state)
    }

    /// Returns a hash that identifies the record without showing it.
    fn hash(&self) -> RecordHash {
        let parts = self
            .fields
            .iter()
            .flat_map(|(field, value)| [&field[..], &value[..]]);
        RecordHash::of(parts)
    }
}

impl Redisson {
    /// Sends commands that run independently. An answer may be the error for a key of another type.
    async fn ask_all(
        &self,
        commands: &[Command<'_>],
        until: Instant,
    ) -> Result<Vec<Value>, WireError> {
        let node = &self.channels.node;
        let asked = node.ask_all(commands, until).await;
        let Answers { connection, values } = asked.map_err(NodeError::into_wire)?;
        for value in &values {
            match node.error_in(&connection, value) {
                Some(error) if !is_of_another_type(value) => return Err(error.into_wire()),
                _ => {}
            }
        }
        Ok(values)
    }

    async fn records(&self, names: &[&RecordNames]) -> Result<Vec<HashRecord>, WireError> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let until = self.channels.node.until();
        let commands = names.iter().flat_map(|names| {
            let lock = Argument::Name(names.of(RecordKind::Lock));
            ["TYPE", "PTTL", "HLEN"].map(|word| vec![Argument::Text(word), lock])
        });
        let commands: Vec<Command<'_>> = commands.collect();
        let answers = self.ask_all(&commands, until).await?;
        let mut records: Vec<HashRecord> = answers.chunks_exact(3).map(first_look).collect();
        let is_read = |record: &HashRecord| record.kind == "hash" && record.length <= MOST_FIELDS;
        let wanted = names
            .iter()
            .zip(&records)
            .filter(|(_, record)| is_read(record));
        let commands: Vec<Command<'_>> = wanted
            .map(|(names, _)| {
                let lock = Argument::Name(names.of(RecordKind::Lock));
                vec![Argument::Text("HGETALL"), lock]
            })
            .collect();
        if commands.is_empty() {
            return Ok(records);
        }
        let answers = self.ask_all(&commands, until).await?;
        let wanted = records.iter_mut().filter(|record| is_read(record));
        for (record, answer) in wanted.zip(&answers) {
            record.fields = fields(answer);
            if record.fields.is_empty() {
                // The lock was released in between.
                "none".clone_into(&mut record.kind);
            }
        }
        Ok(records)
    }
}

/// Parses the part of a record that is read before the fields.
fn first_look(answers: &[Value]) -> HashRecord {
    let number = |value: &Value| match value {
        Value::Int(number) => *number,
        _ => 0,
    };
    HashRecord {
        kind: match &answers[0] {
            Value::SimpleString(kind) => kind.clone(),
            _ => "none".to_owned(),
        },
        left: number(&answers[1]),
        fields: Vec::new(),
        length: number(&answers[2]),
    }
}

/// Returns the fields in the order of their names.
fn fields(answer: &Value) -> Fields {
    let text = |value: &Value| match value {
        Value::BulkString(text) => Some(text.clone()),
        _ => None,
    };
    let mut fields: Fields = match answer {
        Value::Map(pairs) => pairs
            .iter()
            .filter_map(|(field, value)| text(field).zip(text(value)))
            .collect(),
        Value::Array(values) => values
            .chunks_exact(2)
            .filter_map(|pair| text(&pair[0]).zip(text(&pair[1])))
            .collect(),
        _ => Vec::new(),
    };
    fields.sort();
    fields
}

impl Redisson {
    /// The waiters are unknown, since they only listen to a channel.
    pub(in crate::backend::redis) async fn inspect(
        &self,
        key: &LockKey,
        names: &RecordNames,
    ) -> Result<(LockState, u64), WireError> {
        let records = self.records(&[names]).await?;
        let time = [vec![Argument::Text("TIME")]];
        let time = self
            .channels
            .node
            .ask_together(&time, self.channels.node.until())
            .await;
        let time = time.map_err(NodeError::into_wire)?;
        let now = time.first().and_then(micros).unwrap_or(0);
        let state = records.first().and_then(|record| record.state(key.clone()));
        Ok((state.unwrap_or_else(|| LockState::free(key.clone())), now))
    }

    pub(in crate::backend::redis) async fn page(
        &self,
        listing: &Listing,
        cursor: &mut Cursor,
    ) -> Result<Vec<LockState>, WireError> {
        let node = &self.channels.node;
        let found = scan::next(node, listing, &cursor.position, node.until()).await;
        let (found, after) = found.map_err(NodeError::into_wire)?;
        let names: Vec<&RecordNames> = found.iter().map(|found| &found.names).collect();
        let records = self.records(&names).await?;
        cursor.is_over = after.is_none();
        cursor.position = after.unwrap_or_default();
        let found = found.iter().zip(records);
        Ok(found
            .filter_map(|(Found { key, .. }, record)| record.state(key.clone()))
            .collect())
    }

    pub(in crate::backend::redis) async fn revoke(
        &self,
        names: &RecordNames,
        order: &RevokeOrder,
    ) -> Result<RevokeReply, WireError> {
        let records = self.records(&[names]).await?;
        let Some(record) = records.first().filter(|record| record.kind != "none") else {
            return Ok(RevokeReply::NotHeld);
        };
        if record.fields.is_empty() || order.reference != HolderRef::Record(record.hash()) {
            return Ok(RevokeReply::Changed);
        }
        let pairs = record
            .fields
            .iter()
            .flat_map(|(field, value)| [field, value]);
        let arguments: Vec<Argument<'_>> = pairs.map(|text| Argument::Bytes(text)).collect();
        let names = OneOrMore::from(names.clone());
        let call = ScriptCall {
            script: &REVOKE,
            names: &names,
            arguments: &arguments,
            shortcut: None,
            trial: None,
        };
        let node = &self.channels.node;
        let answered = node
            .run(Purpose::End, &call, node.until(), &mut |_| {})
            .await;
        revoke_script::parse(&answered.map_err(NodeError::into_wire)?.answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(fields: &[&str], length: i64) -> HashRecord {
        let field = |name: &&str| (name.as_bytes().to_vec(), b"1".to_vec());
        HashRecord {
            kind: "hash".to_owned(),
            left: 500,
            fields: fields.iter().map(field).collect(),
            length,
        }
    }

    #[test]
    fn record_with_too_many_fields_is_held_by_so_many() {
        let state = record(&[], 300).state("k".into()).unwrap();
        assert_eq!((state.holders.len(), state.more_holders), (1, 299));
        assert_eq!(state.holders[0].reference, None, "it cannot be compared");
        let state = record(&["a:1", "b:2", "mode"], 3)
            .state("k".into())
            .unwrap();
        assert_eq!((state.holders.len(), state.more_holders), (2, 0));
        assert!(state.holders[0].reference.is_some());
    }
}
