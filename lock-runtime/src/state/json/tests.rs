use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use uuid::Uuid;

use super::super::{AuditEntry, ListedLock, LocalHold, Receipt, Votes, Waiter};
use super::*;
use crate::FencingToken;
use crate::key::LockKey;

fn of(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

fn token(number: u64) -> FencingToken {
    FencingToken::new(number)
}

fn holder() -> Holder {
    Holder {
        label: "api-7 \u{1b}".to_owned(),
        token: Some(token(16)),
        age: Some(Duration::from_micros(1_999)),
        remaining: None,
        kind: HolderKind::Exclusive,
        permits: 1,
        reference: Some(HolderRef::Token(token(16))),
        other_tokens: vec![token(17)],
        hash: Some(RecordHash::of([&b"a"[..]])),
    }
}

fn state() -> LockState {
    LockState {
        holders: vec![holder()],
        more_holders: 2,
        waiters: vec![Waiter {
            label: "api-8".to_owned(),
            waiting: Duration::from_secs(2),
            last_seen: Duration::from_millis(3),
        }],
        more_waiters: 4,
        last_token: Some(token(16)),
        ..LockState::free(LockKey::from("order:42"))
    }
}

#[test]
fn lock_has_its_holders_and_waiters() {
    let mut state = state();
    let mut expected = json!({
        "key": "order:42",
        "held": true,
        "holders": [{
            "holder": "api-7 \u{1b}", "kind": "exclusive", "token": 16, "reference": "16", "record": null,
            "age_ms": 1, "remaining_ms": null, "permits": 1,
        }],
        "more_holders": 2,
        "waiters": [{ "waiter": "api-8", "waiting_ms": 2000, "last_seen_ms": 3 }],
        "more_waiters": 4,
        "last_token": 16,
    });
    assert_eq!(of(&state), expected);
    state.votes = Some(Votes {
        nodes: 3,
        answered: 2,
        agreed: 1,
    });
    expected["votes"] = json!({ "nodes": 3, "answered": 2, "agreed": 1 });
    assert_eq!(of(&state), expected);
}

#[test]
fn listed_lock_has_the_fields_of_its_holder() {
    let mut lock = ListedLock::of(state()).unwrap();
    let mut expected = of(&lock.holder);
    for (field, value) in [
        ("key", json!("order:42")),
        ("holder_count", json!(3)),
        ("waiter_count", json!(5)),
        ("longest_wait_ms", json!(2000)),
    ] {
        expected[field] = value;
    }
    assert_eq!(of(&lock), expected);
    let votes = Votes {
        nodes: 3,
        answered: 2,
        agreed: 1,
    };
    lock.votes = Some(votes);
    expected["votes"] = of(votes);
    assert_eq!(of(&lock), expected);
}

#[test]
fn holder_without_a_token_has_the_hash_of_its_record() {
    let hash = RecordHash::of([&b"a"[..]]);
    let holder = Holder {
        token: None,
        reference: Some(HolderRef::Record(hash)),
        ..holder()
    };
    let json = of(&holder);
    assert_eq!(json["record"], hash.to_string());
    assert_eq!(json["reference"], format!("record:{hash}"));
}

#[test]
fn lock_of_this_process_has_its_function_and_callers() {
    let held = LocalHold {
        keys: vec![LockKey::from("a"), LockKey::from("b\n")],
        function: Some("ship"),
        token: None,
        age: Duration::from_secs(1),
        remaining: Duration::MAX,
        waiting_callers: 2,
    };
    let expected = json!({
        "keys": ["a", "b\n"], "function": "ship", "token": null, "age_ms": 1000, "remaining_ms": u64::MAX, "waiting_callers": 2,
    });
    assert_eq!(of(held), expected);
}

#[test]
fn entry_of_the_audit_has_the_error_of_an_action_that_failed() {
    let mut entry = AuditEntry {
        at: UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
        operation: Some(Uuid::from_u128(7)),
        by: "ann".to_owned(),
        user: "ops".to_owned(),
        action: AuditAction::Revoke,
        key: LockKey::from("import"),
        token: None,
        label: "api-7".to_owned(),
        reason: "stuck".to_owned(),
        outcome: AuditOutcome::HandedOff,
    };
    let mut expected = json!({
        "at": "2023-11-14T22:13:20.123Z", "operation": "00000000-0000-0000-0000-000000000007", "by": "ann",
        "user": "ops", "action": "revoke", "key": "import", "token": null, "holder": "api-7", "reason": "stuck",
        "outcome": "handed_off",
    });
    assert_eq!(of(&entry), expected);
    (entry.operation, entry.outcome) =
        (None, AuditOutcome::Failed("the server is gone".to_owned()));
    expected["operation"] = Value::Null;
    expected["outcome"] = json!("failed");
    expected["error"] = json!("the server is gone");
    assert_eq!(of(&entry), expected);
    assert_eq!(of(&entry.outcome), "failed");
}

#[test]
fn revocation_has_one_word_for_each_outcome() {
    let mut receipt = Receipt {
        key: LockKey::from("import"),
        operation: Uuid::from_u128(7),
        label: "api-7".to_owned(),
        handed_off: false,
        nodes: None,
        audited: true,
    };
    let mut expected = json!({
        "key": "import", "operation": "00000000-0000-0000-0000-000000000007", "former_holder": "api-7",
        "outcome": "freed", "audited": true,
    });
    assert_eq!(of(Revoked::Done(receipt.clone())), expected);
    (receipt.handed_off, receipt.nodes) = (true, Some(2));
    expected["outcome"] = json!("handed_off");
    expected["nodes"] = json!(2);
    assert_eq!(of(Revoked::Done(receipt)), expected);
    let changed = json!({ "key": "order:42", "outcome": "changed", "lock": of(state()) });
    assert_eq!(of(Revoked::Changed(Box::new(state()))), changed);
    let not_held = json!({ "key": "import", "outcome": "not_held" });
    assert_eq!(of(Revoked::NotHeld(LockKey::from("import"))), not_held);
}

#[test]
fn run_has_times_a_length_and_one_word() {
    let began = UNIX_EPOCH + Duration::from_millis(1_700_000_000_123);
    let mut run = Run {
        began,
        ended: Some(began + Duration::from_millis(1_500)),
        label: "api-7 \u{1b}".to_owned(),
        outcome: RunOutcome::Failed,
    };
    let mut expected = json!({
        "began": "2023-11-14T22:13:20.123Z", "ended": "2023-11-14T22:13:21.623Z", "took_ms": 1500,
        "holder": "api-7 \u{1b}", "outcome": "failed",
    });
    assert_eq!(of(&run), expected);
    (run.ended, run.outcome) = (None, RunOutcome::Died);
    for field in ["ended", "took_ms"] {
        expected[field] = Value::Null;
    }
    expected["outcome"] = json!("died");
    assert_eq!(of(&run), expected);
}

#[test]
fn kind_is_one_word() {
    assert_eq!(of(HolderKind::OtherType), "other_type");
}

#[test]
fn position_is_the_text_that_is_parsed() {
    let position = ListingPosition::default();
    assert_eq!(of(&position), position.to_string());
}
