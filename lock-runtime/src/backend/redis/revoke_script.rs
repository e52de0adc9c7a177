//! Runs the script that takes a lock from its holder.

use redis::Value;

use super::encoder::Argument;
use super::records::string_record::{Held, StringRecord};
use super::scripts::unknown_answer;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::RevokeReply;
use crate::lease::fencing_token::FencingToken;
use crate::state::{HolderKind, HolderRef};

/// The part of a lock's record that must match before the lock is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared<'a> {
    Token(FencingToken),
    /// The owner's id, for a holder without a token.
    Owner(&'a [u8]),
    /// The first bytes of a value, and its length.
    Whole(&'a [u8], u64),
}

impl<'a> Compared<'a> {
    /// Returns what to compare. `None` if this cannot be the record that the operator saw. A token is compared only by
    /// the script.
    pub(super) fn of(reference: HolderRef, record: &'a StringRecord) -> Option<Compared<'a>> {
        match reference {
            HolderRef::Token(token) => Some(Compared::Token(token)),
            HolderRef::Record(hash) => {
                let Held::Alone(holder) = record.held() else {
                    return None;
                };
                let value = record.value.as_deref()?;
                if holder.kind == HolderKind::Foreign {
                    let is_same = hash == record.hash();
                    return is_same.then_some(Compared::Whole(value, record.length));
                }
                // The same owner may have asked for a token since.
                let owner = record.owner().filter(|_| holder.hash == Some(hash));
                owner.map(Compared::Owner)
            }
        }
    }

    /// Returns the arguments of the script.
    pub(super) fn arguments(self, notice: &'a str) -> [Argument<'a>; 4] {
        let number = |number: u64| Argument::Number(i64::try_from(number).unwrap_or(i64::MAX));
        let (token, value, length) = match self {
            Compared::Token(token) => (token.get(), &b""[..], Argument::Number(-1)),
            Compared::Owner(owner) => (0, owner, Argument::Number(-2)),
            Compared::Whole(value, length) => (0, value, number(length)),
        };
        [
            number(token),
            Argument::Bytes(value),
            length,
            Argument::Text(notice),
        ]
    }
}

/// Parses the answer of a revoking script.
pub(super) fn parse(answer: &Value) -> Result<RevokeReply, WireError> {
    match answer {
        Value::Int(1) => Ok(RevokeReply::Freed(None)),
        Value::Int(2) => Ok(RevokeReply::HandedOff(None)),
        Value::Int(0) => Ok(RevokeReply::NotHeld),
        Value::Int(-1) => Ok(RevokeReply::Changed),
        _ => Err(unknown_answer("revoke")),
    }
}
