//! Permits: as many as a caller's own limit.

use std::sync::atomic::{AtomicU32, Ordering};

use lock_runtime::LockClient;

use super::store::Store;
use super::tools::{KEY, LONG, at_once, crowd, hold, is_refused, ms};

pub(crate) async fn permits_are_granted_up_to_their_limit(store: Store) {
    let clients = [store.client(), store.client()];
    let permit = |caller: usize| clients[caller % 2].lock(KEY).permits(5);
    let mut taken = Vec::new();
    for caller in 0..5 {
        taken.push(at_once(permit(caller)).await);
    }
    for _ in 0..6 {
        assert!(is_refused(permit(0)).await && is_refused(permit(1)).await);
        taken.remove(0).release().await.unwrap();
        taken.push(at_once(permit(taken.len())).await);
    }
    for permit in taken {
        permit.release().await.unwrap();
    }
    assert!(store.is_empty().await);
}

pub(crate) async fn permits_count_as_many_as_they_take(store: Store) {
    let (one, other) = (store.client(), store.client());
    let take = |take| other.lock(KEY).permits(5).take(take);
    let two = at_once(one.lock(KEY).permits(5).take(2)).await;
    let three = at_once(take(3)).await;
    assert!(is_refused(take(1)).await);
    two.release().await.unwrap();
    assert!(is_refused(take(3)).await);
    assert!(!is_refused(take(2)).await);
    three.release().await.unwrap();
    assert!(!is_refused(take(5)).await);
}

pub(crate) async fn caller_is_bound_by_its_own_limit(store: Store) {
    let (one, other) = (store.client(), store.client());
    let three = at_once(one.lock(KEY).permits(5).take(3)).await;
    assert!(is_refused(other.lock(KEY).permits(3)).await);
    let fourth = at_once(other.lock(KEY).permits(5)).await;
    assert!(is_refused(one.lock(KEY).permits(4)).await);
    three.release().await.unwrap();
    assert!(!is_refused(other.lock(KEY).permits(3).take(2)).await);
    assert!(is_refused(other.lock(KEY).permits(1)).await);
    fourth.release().await.unwrap();
    assert!(!is_refused(other.lock(KEY).permits(1)).await);
}

pub(crate) async fn permit_and_plain_lock_exclude_each_other(store: Store) {
    let (one, other) = (store.client(), store.client());
    for client in [&one, &other] {
        let permit = at_once(one.lock(KEY).permits(5)).await;
        assert!(is_refused(client.lock(KEY)).await);
        assert!(is_refused(client.lock(KEY).write()).await);
        permit.release().await.unwrap();
        let plain = hold(&one).await;
        assert!(is_refused(client.lock(KEY).permits(5)).await);
        plain.release().await.unwrap();
    }
}

pub(crate) async fn more_than_the_limit_is_never_taken(store: Store) {
    let taken = AtomicU32::new(0);
    let visit = async |client: LockClient, number| {
        let take = 1 + number % 3;
        let body = async |_: &_| {
            let sum = taken.fetch_add(take, Ordering::SeqCst) + take;
            assert!(sum <= 4, "{sum} of 4 are taken");
            tokio::task::yield_now().await;
            taken.fetch_sub(take, Ordering::SeqCst);
        };
        let permits = client.lock(KEY).permits(4).take(take).wait(LONG);
        permits.run(body).await.expect("each caller gets its part");
    };
    crowd(&store, visit).await;
    assert!(store.is_empty().await);
}

pub(crate) async fn busy_error_has_the_number_of_taken_permits(store: Store) {
    let (one, other) = (store.client(), store.client());
    let _three = at_once(one.lock(KEY).permits(5).take(3)).await;
    let _fourth = at_once(other.lock(KEY).permits(5)).await;
    for client in [&one, &other] {
        for (limit, take) in [(5, 2), (4, 1)] {
            let permits = client.lock(KEY).permits(limit).take(take).wait(ms(50));
            let error = permits.acquire().await.unwrap_err();
            assert!(error.is_busy(), "{error}");
            let holder = error.holder().expect("there is one");
            let text = format!("2 callers with 4 of {limit} permits, since ");
            assert!(holder.starts_with(&text), "{holder}");
        }
    }
}
