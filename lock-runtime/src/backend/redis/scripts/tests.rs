use super::*;
use crate::key::{Lock, LockKey, OneOrMore, RecordNames};
use crate::lease::fencing_token::FencingToken;

fn one() -> OneOrMore<RecordNames> {
    RecordNames::of_lock("lock:k".to_owned()).unwrap().into()
}

fn text(text: &str) -> Value {
    Value::BulkString(text.into())
}

/// The scripts and the client must count tokens in the same way.
#[test]
fn scripts_have_the_numbers_of_tokens() {
    let constants = sources::MINT;
    let first = FencingToken::new(1_000_000_000_000_000);
    assert!(first.is_minted() && !FencingToken::new(first.get() - 1).is_minted());
    assert!(constants.contains("local FIRST_TOKEN = 1e15 "));
    assert!(constants.contains(&format!("local TURNS = {} ", FencingToken::STEP)));
}

#[test]
fn acquire_reply_is_a_grant_or_a_position() {
    let parse = |value| parse_acquire_reply(value, Mode::Exclusive, &one());
    let Ok(AcquireReply::Granted(grant)) = parse(text("+0000000000000016")) else {
        panic!()
    };
    assert!(grant.contended);
    let waiting = Value::Array(vec![Value::Int(250), Value::Int(3), text("foreign")]);
    let Ok(AcquireReply::Waiting(waiting)) = parse(waiting) else {
        panic!()
    };
    assert_eq!(
        (waiting.remaining, waiting.position),
        (Some(Duration::from_millis(250)), 3)
    );
    let without_ttl = Value::Array(vec![Value::Int(-1), Value::Int(0), text("foreign")]);
    let Ok(AcquireReply::Waiting(waiting)) = parse(without_ttl) else {
        panic!()
    };
    assert_eq!(waiting.remaining, None);
}

#[test]
fn acquire_reply_counts_the_shares_and_the_limit_of_the_caller() {
    const SHARED: &str = "shared0001234567890123 0001234567890123 shared: api-7 ship";
    let counted = |value: &str, mode| {
        let counted = [3, 4, 2_500].map(Value::Int);
        let parts = [Value::Int(250), Value::Int(1), text(value)].into_iter();
        let answer = Value::Array(parts.chain(counted).collect());
        match parse_acquire_reply(answer, mode, &one()).unwrap() {
            AcquireReply::Waiting(waiting) => match waiting.holder {
                Holder::Shared(shared) => shared.counted,
                _ => None,
            },
            AcquireReply::Granted(_) => panic!("it is held"),
        }
    };
    let of_five = Mode::Share(Share::permits(5, 2).unwrap());
    for (mode, limit) in [(of_five, Some(5)), (Mode::Write, None)] {
        let expected = Counted {
            owners: 3,
            taken: 4,
            limit,
            since: Duration::from_millis(2_500),
        };
        assert_eq!(counted(SHARED, mode), Some(expected));
    }
    assert_eq!(counted("foreign", Mode::Write), None);
}

#[test]
fn write_mode_differs_in_its_end_and_in_the_records_of_its_acquire() {
    let of = |mode| Scripts::of(mode, &one());
    let (write, plain) = (of(Mode::Write), of(Mode::Exclusive));
    let share = of(Mode::Share(Share::READ));
    assert!(write.renew.is(&plain.renew) && write.release.is(&plain.release));
    assert!(!write.acquire.is(&plain.acquire) && write.end.is(&share.end));
    let of_a_day = ScriptSet::with(FenceRetention::DAY);
    assert!(of_a_day.end_with_successor().is(&plain.end));
}

#[test]
fn scripts_of_another_memory_differ_where_they_write_fences() {
    let hour = FenceRetention::of(Duration::from_secs(3600));
    let [hour, day] = [hour, FenceRetention::DAY].map(ScriptSet::with);
    let lock = |key: &str| {
        let names = RecordNames::of_lock(format!("lock:{key}")).unwrap();
        let key = LockKey::from(key);
        Lock { key, names }
    };
    let two = Lock::in_order(vec![lock("a"), lock("b")]).unwrap().names();
    for (mode, names) in [
        (Mode::Exclusive, &one()),
        (Mode::Write, &one()),
        (Mode::Share(Share::READ), &one()),
        (Mode::Exclusive, &two),
    ] {
        let [of_hour, of_day] = [hour, day].map(|set| set.of(mode, names));
        assert!(!of_hour.acquire.is(&of_day.acquire), "{mode:?}");
        assert!(!of_hour.end.is(&of_day.end), "{mode:?}");
        assert!(of_hour.renew.is(&of_day.renew), "{mode:?}");
        assert!(of_hour.release.is(&of_day.release), "{mode:?}");
    }
    assert!(
        hour.end_with_successor()
            .is(&hour.of(Mode::Exclusive, &one()).end)
    );
}

/// A further line would be a number that a client with another retention must not change.
#[test]
fn day_is_in_the_sources_that_write_fences() {
    let hour = FenceRetention::of(Duration::from_secs(3600));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/backend/redis/lua");
    let mut replaced = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        let of_an_hour = hour.source(&source);
        let lines = source.lines().zip(of_an_hour.lines());
        let changed = lines.filter(|(line, of_hour)| line != of_hour).count();
        if changed > 0 {
            replaced.push((path.file_stem().unwrap().to_owned(), changed));
        }
    }
    replaced.sort();
    let expected = ["grant", "quorum_take", "share_take", "take"].map(|name| (name.into(), 1));
    assert_eq!(replaced, expected);
}

#[test]
fn unknown_answer_is_refused_and_not_shown() {
    for value in [
        Value::Nil,
        Value::Int(7),
        text("secret"),
        Value::Array(vec![text("secret")]),
        Value::Array(vec![
            Value::Int(1),
            Value::Int(1),
            text("secret"),
            Value::Int(1),
        ]),
    ] {
        for error in [
            parse_acquire_reply(value.clone(), Mode::Share(Share::READ), &one()).err(),
            parse_release_reply(&value).err(),
            parse_end_reply(&value).err(),
        ] {
            let error = error.expect("an error").to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
