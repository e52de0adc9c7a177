use super::*;
use crate::state::HolderKind;

const NOW: f64 = 1_700_000_000_000_000.0;

fn text(text: &str) -> Value {
    Value::BulkString(text.into())
}

fn set(members: &[(&str, f64)]) -> Value {
    let pair =
        |&(member, score): &(&str, f64)| Value::Array(vec![text(member), Value::Double(score)]);
    Value::Array(members.iter().map(pair).collect())
}

fn snapshot(value: &str, entries: Value, shares: Value) -> Snapshot {
    let answers = [
        text(value),
        Value::Int(value.len() as i64),
        Value::Int(500),
        Value::Array(vec![text("1700000000"), text("0")]),
        text("1699999999000016"),
        Value::Int(4),
        entries,
        Value::Int(4),
        shares,
    ];
    Snapshot::parse(&answers).unwrap()
}

const ONE: &str = "abcdefghABCDEFGH012345 1699999999000000 api-7 ship";

#[test]
fn waiters_are_shown_in_their_order_with_their_times() {
    let entries = set(&[
        ("bbbbbbbbABCDEFGH012345 api-8", NOW - 2e6),
        ("ccccccccABCDEFGH012345 \u{1f}2/5\u{1f}api-9", NOW - 1e6),
    ]);
    let snapshot = snapshot(ONE, entries, Value::Array(vec![]));
    let heartbeats = Value::Array(vec![Value::Double(-(NOW + 5.5e6)), Value::Nil]);
    let waiting = snapshot.waiting(&heartbeats);
    assert_eq!(waiting.len(), 1, "one has left");
    let waiter = &waiting[0].waiter;
    assert_eq!(waiter.label, "api-8");
    assert_eq!(waiter.waiting, Duration::from_secs(2));
    assert_eq!(waiter.last_seen, Duration::from_millis(500));
    let heartbeats = Value::Array(vec![Value::Nil, Value::Double(-(NOW + 6e6))]);
    assert_eq!(snapshot.waiting(&heartbeats)[0].waiter.label, "api-9");
    assert_eq!(snapshot.more_waiters(), 0);
}

#[test]
fn refused_command_is_not_taken_for_a_free_lock() {
    let error = |text: &[u8]| redis::parse_redis_value(text).unwrap();
    let refused = |refusal: &[u8]| {
        let mut answers = vec![error(refusal); 9];
        answers[3] = Value::Array(vec![text("1700000000"), text("0")]);
        Snapshot::parse(&answers).is_err()
    };
    assert!(refused(b"-NOPERM no permissions\r\n"));
    assert!(
        !refused(b"-WRONGTYPE another kind\r\n"),
        "it is known to be there"
    );
}

#[test]
fn lapsed_shares_are_not_holders() {
    let shares = set(&[
        ("aaaaaaaaABCDEFGH012345", NOW - 1.0),
        ("bbbbbbbbABCDEFGH012345*3", NOW + 2e6),
    ]);
    let value = "shared1699999999000000 1699999999000000 shared: api-7";
    let state = snapshot(value, set(&[]), shares).state("k".into(), Vec::new());
    assert_eq!(state.holders.len(), 1);
    let holder = &state.holders[0];
    assert_eq!((holder.permits, holder.kind), (3, HolderKind::Share));
    assert_eq!(holder.remaining, Some(Duration::from_secs(2)));
    assert_eq!(state.more_holders, 1, "of 3 shares, 2 were read");
}

#[test]
fn lapsed_shares_leave_room_for_the_others() {
    let value = "shared1699999999000000 1699999999000000 shared: api-7";
    let names: Vec<String> = (0..MOST).map(|n| format!("{n:08}ABCDEFGH012345")).collect();
    let share = |expiry| -> Value {
        let members: Vec<_> = names.iter().map(|name| (name.as_str(), expiry)).collect();
        set(&members)
    };
    let record_names = RecordNames::of_lock("lock:k".to_owned()).unwrap();
    let mut of_lapsed = snapshot(value, set(&[]), share(NOW - 1.0));
    of_lapsed.share_members = 301;
    let state = of_lapsed.clone().state("k".into(), Vec::new());
    assert_eq!(state.holders.len(), 1, "as far as it is known");
    assert!(of_lapsed.live_shares(&record_names).is_some());
    of_lapsed.set_live_shares(&set(&[("live8888ABCDEFGH012345*2", NOW + 2e6)]));
    let state = of_lapsed.state("k".into(), Vec::new());
    assert_eq!((state.holders.len(), state.more_holders), (1, 0));
    assert_eq!(state.holders[0].permits, 2);

    let mut of_some = snapshot(value, set(&[]), share(NOW - 1.0));
    of_some.share_members = 301;
    of_some.set_live_shares(&share(NOW + 1e6));
    let state = of_some.state("k".into(), Vec::new());
    assert_eq!((state.holders.len(), state.more_holders), (MOST, 44));
    let alive = snapshot(value, set(&[]), share(NOW + 1e6));
    assert!(alive.live_shares(&record_names).is_none());
}

#[test]
fn shared_lock_without_its_shares_is_held_by_its_record() {
    let value = "shared1699999999000000 1699999999000000 shared: api-7";
    let mut snapshot = snapshot(value, set(&[]), Value::Array(vec![]));
    snapshot.share_members = 0;
    let state = snapshot.state("k".into(), Vec::new());
    assert_eq!(state.holders[0].remaining, Some(Duration::from_millis(500)));
}

#[test]
fn last_token_is_the_fences() {
    let state = snapshot(ONE, set(&[]), set(&[])).state("k".into(), Vec::new());
    assert_eq!(
        state.last_token,
        Some(FencingToken::new(1_699_999_999_000_016))
    );
    assert_eq!(state.waiter_count(), 2);
}
