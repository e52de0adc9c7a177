//! The scripts for Redisson's record: a hash with a field for each holder.

use harness::{RawLock, owner};
use redis::{Script, Value};

use super::super::sources;
use super::answer::{Got, Waits};
use super::outside::letter;
use super::verbs::Words;

/// The field of an owner, as the client and Redisson name them.
pub(super) fn field(who: char) -> String {
    format!("{}:47", owner(who))
}

pub(super) fn ask(lock: &mut RawLock, who: char, verb: &str, words: &Words<'_>) -> Got {
    let script = match verb {
        "acquire" => Script::new(sources::REDISSON_ACQUIRE),
        "renew" => Script::new(sources::REDISSON_RENEW),
        "release" => {
            let (script, connection) = (
                Script::new(sources::REDISSON_RELEASE),
                &mut *lock.connection,
            );
            let mut call = script.key(&lock.k);
            return call
                .key(&lock.q)
                .arg(field(who))
                .invoke::<i64>(connection)
                .into();
        }
        other => panic!("no step of Redisson's record: {other}"),
    };
    let mut call = script.key(&lock.k);
    call.arg(field(who)).arg(words.ttl);
    call.invoke(&mut *lock.connection)
        .map_or_else(Got::Failed, got)
}

/// An operator revokes the lock of the holders with these fields: `A1 mode=read`.
pub(super) fn revoke(lock: &mut RawLock, holders: &[&str]) -> Got {
    let pairs: Vec<String> = holders.iter().flat_map(|holder| pair(holder)).collect();
    let script = Script::new(sources::REDISSON_REVOKE);
    script
        .key(&lock.k)
        .key(&lock.q)
        .arg(pairs)
        .invoke::<i64>(&mut *lock.connection)
        .into()
}

/// A field and its value.
pub(super) fn pair(text: &str) -> [String; 2] {
    match text.split_once('=') {
        Some((name, value)) => [name.to_owned(), value.to_owned()],
        None => [field(letter(text)), text[1..].to_owned()],
    }
}

fn got(answer: Value) -> Got {
    match answer {
        Value::Nil => Got::Nil,
        Value::Array(_) => {
            let (remaining, kind, value): (i64, String, String) =
                redis::from_redis_value(answer).expect("three parts");
            let value = format!("{kind}:{value}");
            Got::Waits(Waits {
                remaining,
                value,
                ..Waits::default()
            })
        }
        held => {
            let text: String = redis::from_redis_value(held).expect("flag and token");
            harness::Answer::held(&text).into()
        }
    }
}
