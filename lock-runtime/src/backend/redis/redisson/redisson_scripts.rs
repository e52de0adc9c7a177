//! The scripts for Redisson's record, and parsers for their answers.

use std::sync::LazyLock;
use std::time::Duration;

use redis::Value;

use crate::backend::redis::scripts::{Script, parse_grant, unknown_answer};
use crate::backend::redis::sources;
use crate::backend::wire::error::WireError;
use crate::backend::wire::reply::{AcquireReply, Waiting};
use crate::key::RecordKind;
use crate::lease::record::Holder;

/// The scripts for Redisson's record. An owner never queues there, so a release is the whole end.
pub(in crate::backend::redis) struct RedissonScripts {
    pub(in crate::backend::redis) acquire: Script,
    pub(in crate::backend::redis) renew: Script,
    pub(in crate::backend::redis) release: Script,
    pub(in crate::backend::redis) trial: Script,
}

pub(in crate::backend::redis) static SCRIPTS: LazyLock<RedissonScripts> =
    LazyLock::new(|| RedissonScripts {
        acquire: Script::new(&[RecordKind::Lock], sources::REDISSON_ACQUIRE),
        renew: Script::new(&[RecordKind::Lock], sources::REDISSON_RENEW),
        release: Script::new(
            &[RecordKind::Lock, RecordKind::FairQueue],
            sources::REDISSON_RELEASE,
        ),
        trial: Script::new(&[RecordKind::Lock], sources::REDISSON_TRIAL),
    });

/// The script that takes a lock from its holders.
pub(super) static REVOKE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        &[RecordKind::Lock, RecordKind::FairQueue],
        sources::REDISSON_REVOKE,
    )
});

/// Parses the answer to `acquire`.
pub(in crate::backend::redis) fn parse_acquire_reply(
    value: Value,
) -> Result<AcquireReply, WireError> {
    let reply = match &value {
        Value::Array(parts) => parse_held(parts).map(AcquireReply::Waiting),
        value => parse_grant(value).map(AcquireReply::Granted),
    };
    reply.ok_or_else(|| unknown_answer("redisson_acquire"))
}

fn parse_held(parts: &[Value]) -> Option<Waiting> {
    let [
        Value::Int(remaining),
        Value::BulkString(kind),
        Value::BulkString(holder),
    ] = parts
    else {
        return None;
    };
    let holder = match &kind[..] {
        b"hash" => Holder::parse_field(holder),
        _ => Holder::parse(holder),
    };
    Some(Waiting {
        // −1 stands for a key that never expires.
        remaining: u64::try_from(*remaining).ok().map(Duration::from_millis),
        position: 0,
        holder,
        lock: 0,
        holds_later: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(parts: [Value; 3]) -> Result<Waiting, WireError> {
        match parse_acquire_reply(Value::Array(parts.into()))? {
            AcquireReply::Waiting(waiting) => Ok(waiting),
            AcquireReply::Granted(_) => panic!("it is held"),
        }
    }

    fn text(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    #[test]
    fn answer_is_a_grant_or_the_holder() {
        let Ok(AcquireReply::Granted(grant)) = parse_acquire_reply(text(" 1234567890123456"))
        else {
            panic!()
        };
        assert_eq!(
            (grant.contended, grant.token.get()),
            (false, 1_234_567_890_123_456)
        );
        let held = parse([Value::Int(250), text("hash"), text("a:1")]).unwrap();
        assert_eq!(held.remaining, Some(Duration::from_millis(250)));
        assert_eq!(held.holder.describe(), "a Redisson client a:1");
        let held = parse([Value::Int(-1), text("string"), text("a:1")]).unwrap();
        assert_eq!(held.remaining, None);
        assert!(matches!(held.holder, Holder::Foreign(_)));
    }

    #[test]
    fn unknown_answer_is_refused_and_not_shown() {
        for answer in [
            parse_acquire_reply(text("secret")),
            parse_acquire_reply(Value::Array(vec![text("secret")])),
        ] {
            let error = answer.unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
