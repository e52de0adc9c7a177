//! The JSON of what operators see, which [`inspect`](crate::inspect) describes.

use std::fmt::Display;
use std::time::Duration;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::rfc3339::Rfc3339;
use super::{
    AuditAction, AuditEntry, AuditOutcome, Holder, HolderKind, HolderRef, ListingPosition,
    LockState, RecordHash, Revoked, Run, RunOutcome,
};

/// Writes values as their own text.
macro_rules! as_text {
    ($($type:ty),+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )+};
}

as_text!(HolderKind, HolderRef, ListingPosition, RecordHash);

/// Writes the words of other programs as they are.
macro_rules! as_str {
    ($($type:ty),+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    )+};
}

as_str!(AuditAction, AuditOutcome, RunOutcome);

impl Serialize for LockState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = 7 + usize::from(self.votes.is_some());
        let mut object = serializer.serialize_struct("LockState", fields)?;
        object.serialize_field("key", &self.key)?;
        object.serialize_field("held", &self.is_held())?;
        object.serialize_field("holders", &self.holders)?;
        object.serialize_field("more_holders", &self.more_holders)?;
        object.serialize_field("waiters", &self.waiters)?;
        object.serialize_field("more_waiters", &self.more_waiters)?;
        object.serialize_field("last_token", &self.last_token)?;
        match self.votes {
            Some(votes) => object.serialize_field("votes", &votes)?,
            None => object.skip_field("votes")?,
        }
        object.end()
    }
}

impl Serialize for Holder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let record = match self.reference {
            Some(HolderRef::Record(hash)) => Some(hash),
            _ => None,
        };
        let mut object = serializer.serialize_struct("Holder", 8)?;
        object.serialize_field("holder", &self.label)?;
        object.serialize_field("kind", &self.kind)?;
        object.serialize_field("token", &self.token)?;
        object.serialize_field("reference", &self.reference)?;
        object.serialize_field("record", &record)?;
        object.serialize_field("age_ms", &self.age.map(whole_millis))?;
        object.serialize_field("remaining_ms", &self.remaining.map(whole_millis))?;
        object.serialize_field("permits", &self.permits)?;
        object.end()
    }
}

impl Serialize for AuditEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let error = match &self.outcome {
            AuditOutcome::Failed(error) => Some(error),
            _ => None,
        };
        let fields = 10 + usize::from(error.is_some());
        let mut object = serializer.serialize_struct("AuditEntry", fields)?;
        object.serialize_field("at", &Rfc3339(self.at).to_string())?;
        object.serialize_field("operation", &self.operation.map(|it| it.to_string()))?;
        object.serialize_field("by", &self.by)?;
        object.serialize_field("user", &self.user)?;
        object.serialize_field("action", &self.action)?;
        object.serialize_field("key", &self.key)?;
        object.serialize_field("token", &self.token)?;
        object.serialize_field("holder", &self.label)?;
        object.serialize_field("reason", &self.reason)?;
        object.serialize_field("outcome", &self.outcome)?;
        match error {
            Some(error) => object.serialize_field("error", error)?,
            None => object.skip_field("error")?,
        }
        object.end()
    }
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = |time| Rfc3339(time).to_string();
        let mut object = serializer.serialize_struct("Run", 5)?;
        object.serialize_field("began", &time(self.began))?;
        object.serialize_field("ended", &self.ended.map(time))?;
        object.serialize_field("took_ms", &self.took().map(whole_millis))?;
        object.serialize_field("holder", &self.label)?;
        object.serialize_field("outcome", &self.outcome)?;
        object.end()
    }
}

impl Serialize for Revoked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Revoked::Done(receipt) => receipt.serialize(serializer),
            Revoked::Changed(lock) => {
                let mut object = serializer.serialize_struct("Revoked", 3)?;
                object.serialize_field("key", &lock.key)?;
                object.serialize_field("outcome", &AuditOutcome::Changed)?;
                object.serialize_field("lock", lock)?;
                object.end()
            }
            Revoked::NotHeld(key) => {
                let mut object = serializer.serialize_struct("Revoked", 2)?;
                object.serialize_field("key", key)?;
                object.serialize_field("outcome", &AuditOutcome::NotHeld)?;
                object.end()
            }
        }
    }
}

fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A duration in whole milliseconds.
pub(super) fn millis<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(whole_millis(*duration))
}

/// A duration in whole milliseconds, or `null`.
pub(super) fn optional_millis<S: Serializer>(
    duration: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    duration.map(whole_millis).serialize(serializer)
}

/// Any value as its text.
pub(super) fn text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// What a revocation did to the lock.
pub(super) fn outcome<S: Serializer>(handed_off: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    let outcome = if *handed_off {
        AuditOutcome::HandedOff
    } else {
        AuditOutcome::Freed
    };
    outcome.serialize(serializer)
}

#[cfg(test)]
mod tests;
