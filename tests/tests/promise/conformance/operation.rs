//! What operators see of locks, and how they revoke them.

use std::time::Duration;

use harness::{
    all_entries, all_locks, eventually, failed, in_line, revocation, revoke, sees_waiters, token_of,
};
use lock_runtime::inspect::{
    AuditAction, AuditOutcome, Holder, HolderKind, HolderRef, ListedLock, Receipt, Revoked,
};
use lock_runtime::{LockClient, LockError, LockErrorKind, LockGuard, distributed_lock};
use tokio::time::timeout;

use super::store::Store;
use super::tools::{Flag, KEY, LONG, STEADY, hold};

/// The only holder of a lock.
async fn holder(client: &LockClient, key: &str) -> Holder {
    let mut state = client.inspect(key).await.unwrap();
    assert_eq!(state.holders.len(), 1, "{state:?}");
    state.holders.remove(0)
}

/// The holder's reference.
async fn seen(client: &LockClient, key: &str) -> HolderRef {
    let holder = holder(client, key).await;
    holder.reference.expect("it can be revoked")
}

/// Whether this holder is notified of a revocation. Holders in Redisson's record have no channel, and learn it from a
/// renewal.
fn is_told(holder: &Holder) -> bool {
    holder.kind != HolderKind::Redisson
}

/// All locks of a listing, with about this many per page.
async fn list(client: &LockClient, pattern: &str, page: u32) -> Vec<ListedLock> {
    let mut locks = all_locks(client.locks().matching(pattern).page_size(page))
        .await
        .unwrap();
    locks.sort_by(|one, other| one.key.cmp(&other.key));
    locks.dedup_by(|one, other| one.key == other.key);
    locks
}

async fn hold_key(client: &LockClient, key: &str) -> LockGuard {
    let acquire = client.lock(key).ttl(STEADY).wait(Duration::ZERO);
    acquire.acquire().await.expect("the lock is free")
}

pub(crate) async fn every_store_answers_a_ping(store: Store) {
    assert!(store.client().ping().await.unwrap() < LONG);
}

pub(crate) async fn held_lock_is_shown_with_its_holder(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    // A caller that may wait takes a free lock without a token.
    let guard = client.lock(KEY).wait(LONG).acquire().await.unwrap();
    let state = operator.inspect(KEY).await.unwrap();
    assert_eq!(
        (state.key.as_str(), state.holders.len()),
        (KEY, 1),
        "{state:?}"
    );
    let holder = &state.holders[0];
    assert!(holder.label.contains(&store.holder), "{holder:?}");
    match holder.kind {
        HolderKind::Redisson => assert_eq!(holder.token, None),
        _ => {
            let token = Some(token_of(&guard).await);
            let before = token.filter(|_| !store.mints_when_asked);
            assert!(holder.age.unwrap() < LONG, "{holder:?}");
            assert_eq!((holder.token, state.last_token), (before, before));
            let state = operator.inspect(KEY).await.unwrap();
            let holder = &state.holders[0];
            assert!(holder.age.unwrap() < LONG, "{holder:?}");
            assert_eq!((holder.token, state.last_token), (token, token));
        }
    }
    let shown = format!("{state:?}");
    guard.release().await.unwrap();
    assert!(!shown.contains("owner"), "{shown}");
}

pub(crate) async fn free_lock_is_shown_as_free(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    assert!(!operator.inspect(KEY).await.unwrap().is_held());
    hold(&client).await.release().await.unwrap();
    let state = operator.inspect(KEY).await.unwrap();
    assert!(!state.is_held() && state.waiter_count() == 0, "{state:?}");
    assert!(list(&operator, "*", 250).await.is_empty());
}

pub(crate) async fn locks_that_are_held_are_listed(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    // Fences stay. Fences of tagged keys have the same prefix as locks.
    hold_key(&client, "{order}:7")
        .await
        .release()
        .await
        .unwrap();
    let keys = [
        "order:1",
        "order:2",
        "order:[x]*",
        "order:a\nb",
        "report",
        "{order}:3",
    ];
    let mut guards = Vec::new();
    for key in keys {
        guards.push(hold_key(&client, key).await);
    }
    let listed = list(&operator, "*", 250).await;
    assert!(
        listed.iter().map(|lock| lock.key.as_str()).eq(keys),
        "{listed:?}"
    );
    for lock in &listed {
        let shown = operator.inspect(&lock.key).await.unwrap();
        let (listed, shown) = (&lock.holder, &shown.holders[0]);
        assert_eq!(
            (listed.token, &listed.label, listed.kind),
            (shown.token, &shown.label, shown.kind)
        );
    }
    let orders = list(&operator, "order:?", 250).await;
    assert_eq!(orders.len(), 2, "{orders:?}");
    assert_eq!(list(&operator, r"order:\[x\]\*", 1).await.len(), 1);
    for guard in guards {
        guard.release().await.unwrap();
    }
}

/// Each page is read as if from a link: it knows nothing but the position in the page before.
pub(crate) async fn listing_has_pages_and_goes_on_from_its_position(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    let mut guards = Vec::new();
    for number in 0..40 {
        guards.push(hold_key(&client, &format!("order:{number:02}")).await);
    }
    assert_eq!(list(&operator, "*", 3).await.len(), 40);
    let (mut link, mut keys) = (Some(String::new()), Vec::new());
    while let Some(text) = link {
        let mut locks = operator.locks().page_size(3);
        if !text.is_empty() {
            locks = locks.resume(text.parse().unwrap());
        }
        let page = locks.next_page().await.unwrap().unwrap_or_default();
        let new: Vec<String> = page.iter().map(|lock| lock.key.as_str().into()).collect();
        keys.extend(new);
        link = locks.position().map(|position| position.to_string());
        assert_ne!(link.as_ref(), Some(&text), "it goes on");
    }
    keys.sort();
    let all: Vec<String> = (0..40).map(|number| format!("order:{number:02}")).collect();
    assert_eq!(keys, all, "each is shown once");
    drop(guards);
}

pub(crate) async fn locks_of_this_process_are_known_without_the_store(store: Store) {
    let client = store.client();
    assert!(client.held().is_empty());
    let guard = hold(&client).await;
    let waiting = tokio::spawn(client.lock(KEY).wait(LONG).acquire());
    in_line(&client, 1).await;
    let held = client.held();
    assert_eq!(held.len(), 1);
    assert_eq!(held[0].keys, [KEY.into()]);
    // Nobody has requested a token before, but a memory or quorum lock has one anyway.
    let token = token_of(&guard).await;
    assert_eq!(client.held()[0].token, Some(token));
    assert!(held[0].remaining > Duration::ZERO && held[0].age < LONG);
    guard.release().await.unwrap();
    waiting.await.unwrap().unwrap().release().await.unwrap();
    assert!(client.held().is_empty());
}

#[distributed_lock(key = KEY, ttl = "6s", client = client)]
async fn import(client: &LockClient, ended: Flag) -> Result<(), LockError> {
    let _ended = ended.on_drop();
    std::future::pending().await
}

pub(crate) async fn revoked_body_is_dropped_and_its_error_names_the_operator(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    let ended = Flag::default();
    let body = {
        let (client, ended) = (client.clone(), ended.clone());
        tokio::spawn(async move { import(&client, ended).await })
    };
    let is_held = async || operator.inspect(KEY).await.unwrap().is_held();
    eventually("body", LONG, is_held).await;
    eventually("delivery", LONG, async || !client.held().is_empty()).await;
    let holder = holder(&operator, KEY).await;
    let receipt = revoke(&operator, KEY, holder.reference.unwrap()).await;
    assert!(!receipt.handed_off);
    assert!(receipt.label.contains(&store.holder), "{receipt:?}");
    let lost = timeout(LONG, body).await.unwrap().unwrap().unwrap_err();
    assert!(ended.is_up());
    assert!(lost.is_lost(), "{lost}");
    if is_told(&holder) {
        let text = lost.to_string();
        assert!(
            text.contains("revoked by ann@ops-1: stuck import"),
            "{text}"
        );
        assert!(text.contains(&receipt.operation.to_string()), "{text}");
    }
    assert!(!operator.inspect(KEY).await.unwrap().is_held());
}

pub(crate) async fn revoked_lock_goes_to_the_next_waiter_with_a_higher_token(store: Store) {
    let (client, other, operator) = (store.client(), store.client(), store.operator());
    for asks in [false, true] {
        let guard = hold(&client).await;
        let token = if asks {
            Some(token_of(&guard).await)
        } else {
            None
        };
        let holder = holder(&operator, KEY).await;
        let waiting = tokio::spawn(other.lock(KEY).ttl(STEADY).wait(LONG).acquire());
        if is_told(&holder) {
            sees_waiters(&operator, KEY, 1).await;
            let state = operator.inspect(KEY).await.unwrap();
            assert!(state.waiters[0].last_seen < LONG, "{state:?}");
            let listed = &all_locks(operator.locks()).await.unwrap()[0];
            assert_eq!(listed.waiter_count, 1, "{listed:?}");
            assert!(
                listed.longest_wait >= state.longest_wait(),
                "{state:?}, {listed:?}"
            );
            assert!(listed.longest_wait < Some(LONG), "{listed:?}");
        }
        let receipt = revoke(&operator, KEY, holder.reference.unwrap()).await;
        let next = timeout(LONG, waiting).await.unwrap().unwrap().unwrap();
        if is_told(&holder) {
            assert!(receipt.handed_off, "{receipt:?}");
            timeout(LONG, guard.lost())
                .await
                .expect("the holder is notified");
        }
        assert!(Some(token_of(&next).await) > token);
        let _ = guard.release().await;
        assert!(next.is_valid(), "a late release does not affect it");
        next.release().await.unwrap();
    }
}

/// Between the look and the revocation the holder requested its token: it is still the same holder.
pub(crate) async fn holder_that_was_seen_before_it_had_a_token_is_revoked(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    let guard = hold(&client).await;
    let seen = seen(&operator, KEY).await;
    let token = token_of(&guard).await;
    revoke(&operator, KEY, seen).await;
    assert!(!operator.inspect(KEY).await.unwrap().is_held());
    assert!(guard.renew().await.unwrap_err().is_lost());
    let next = hold(&client).await;
    assert!(token_of(&next).await > token);
    next.release().await.unwrap();
}

pub(crate) async fn lock_of_another_holder_or_of_none_is_not_revoked(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    let guard = hold(&client).await;
    let before = seen(&operator, KEY).await;
    guard.release().await.unwrap();
    let refused = operator.revoke(KEY, before, revocation()).await;
    let refused = refused.unwrap();
    assert!(matches!(refused, Revoked::NotHeld(_)), "{refused:?}");
    let entries = all_entries(operator.audit()).await;
    assert!(entries.is_empty(), "nothing was intended: {entries:?}");
}

pub(crate) async fn operation_is_in_the_audit_before_and_after(store: Store) {
    let (client, operator) = (store.client(), store.operator());
    let guard = hold(&client).await;
    let seen = seen(&operator, KEY).await;
    let receipt = revoke(&operator, KEY, seen).await;
    assert!(receipt.audited);
    let _ = guard.release().await;
    let guard = hold(&client).await;
    let again = seen_without_audit(&operator).await;
    assert!(!again.audited);
    let _ = guard.release().await;

    let hour = Duration::from_secs(3_600);
    let entries = all_entries(operator.audit().max_age(hour).key(KEY)).await;
    let outcomes: Vec<_> = entries.iter().map(|entry| &entry.outcome).collect();
    assert_eq!(
        outcomes,
        [&AuditOutcome::Intended, &AuditOutcome::Freed],
        "{entries:?}"
    );
    for entry in &entries {
        assert_eq!(
            (entry.by.as_str(), entry.reason.as_str()),
            ("ann@ops-1", "stuck import")
        );
        assert_eq!(
            (entry.operation, &entry.action),
            (Some(receipt.operation), &AuditAction::Revoke)
        );
        assert_eq!((&entry.key, &entry.label), (&receipt.key, &receipt.label));
    }
    assert_eq!(receipt.key.as_str(), KEY);
    let others = all_entries(operator.audit().key("another")).await;
    assert!(others.is_empty());
}

async fn seen_without_audit(operator: &LockClient) -> Receipt {
    let seen = seen(operator, KEY).await;
    match operator
        .revoke(KEY, seen, revocation().without_audit())
        .await
        .unwrap()
    {
        Revoked::Done(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn unusable_key_is_refused(store: Store) {
    let client = store.operator();
    failed(client.inspect("").await, LockErrorKind::InvalidKey);
    let guard = hold(&store.client()).await;
    let error = client
        .revoke("{}", token_of(&guard).await, revocation())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.key()),
        (LockErrorKind::InvalidKey, Some("{}"))
    );
    guard.release().await.unwrap();
}
