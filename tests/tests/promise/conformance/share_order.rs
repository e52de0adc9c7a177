//! The order in which shares and writers are served: nobody overtakes.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use harness::token_of;
use lock_runtime::{Acquire, LockError, LockGuard};
use tokio::task::JoinHandle;

use super::store::Store;
use super::tools::{KEY, LONG, at_once, becomes_refused, is_refused, ms};

/// The names of callers, in the order in which they had the lock.
#[derive(Clone, Default)]
struct Served(Arc<Mutex<Vec<&'static str>>>);

impl Served {
    /// A caller that waits for its turn.
    fn caller(&self, name: &'static str, acquire: Acquire) -> JoinHandle<Result<(), LockError>> {
        let served = self.0.clone();
        let visit = async move |_: &LockGuard| served.lock().unwrap().push(name);
        let acquire = acquire.wait(LONG);
        tokio::spawn(async move { acquire.run(visit).await })
    }

    fn names(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

/// Callers that wait, by what they want. Each has sent its first attempt.
async fn waiting(callers: Vec<Acquire>) -> Vec<JoinHandle<Result<LockGuard, LockError>>> {
    let mut waiting = Vec::new();
    for caller in callers {
        waiting.push(tokio::spawn(caller.wait(LONG).acquire()));
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(ms(50)).await;
    assert!(waiting.iter().all(|caller| !caller.is_finished()));
    waiting
}

/// The guards of callers that must be inside together.
async fn together(waiting: Vec<JoinHandle<Result<LockGuard, LockError>>>) -> Vec<LockGuard> {
    let mut guards = Vec::new();
    for caller in waiting {
        guards.push(caller.await.unwrap().unwrap());
    }
    let token = token_of(&guards[0]).await;
    assert!(
        guards
            .iter()
            .all(|guard| guard.fencing_token_blocking().unwrap() == token)
    );
    assert!(guards.iter().all(LockGuard::is_valid));
    guards
}

/// Shares, and several locks together, always have a token. It is higher than the tokens of earlier plain holders.
pub(crate) async fn tokens_rise_among_holders_of_all_kinds(store: Store) {
    let clients = [store.client(), store.client()];
    let (key, other) = ("{order}:1", "{order}:2");
    let mut last = None;
    for round in 0..24 {
        let client = &clients[round / 6 % 2];
        let lock = client.lock(key);
        let lock = match round % 6 {
            0 | 3 => lock,
            1 => lock.read(),
            2 => lock.write(),
            4 => lock.permits(3).take(2),
            _ => client.lock_all([key, other]),
        };
        let guard = at_once(lock).await;
        let token = Some(token_of(&guard).await);
        assert!(token > last, "round {round}: {token:?} came after {last:?}");
        guard.release().await.unwrap();
        // A holder that requests none.
        at_once(client.lock(key)).await.release().await.unwrap();
        last = token;
        if round % 6 == 2 {
            let reading = at_once(client.lock(key).write()).await;
            let reading = reading.downgrade().await.unwrap();
            last = Some(token_of(&reading).await);
            assert!(last > token, "{last:?} came after {token:?}");
            reading.release().await.unwrap();
        }
    }
    // The call tree already holds one of the two locks, without a token. The call for both gets a token above all
    // earlier ones.
    let client = &clients[0];
    let both = client.lock(key).run(async |outer| {
        let both = client.lock_all([key, other]).fenced().acquire().await;
        let both = both.unwrap();
        assert!(Some(token_of(&both).await) > last);
        both.release().await.unwrap();
        let only = client.lock_all([key]).fenced().acquire().await.unwrap();
        let token = token_of(&only).await;
        assert_eq!(token_of(outer).await, token);
        assert!(Some(token) > last);
    });
    both.await.unwrap();
}

async fn release_all(guards: Vec<LockGuard>) {
    for guard in guards {
        guard.release().await.unwrap();
    }
}

pub(crate) async fn writer_goes_in_before_readers_that_came_later(store: Store) {
    let (one, other) = (store.client(), store.client());
    for client in [&one, &other] {
        let inside = at_once(one.lock(KEY).read()).await;
        let served = Served::default();
        let writer = served.caller("writer", client.lock(KEY).write());
        becomes_refused(client.lock(KEY).read()).await;
        let readers = [&one, &other].map(|client| served.caller("reader", client.lock(KEY).read()));
        tokio::time::sleep(ms(50)).await;
        assert!(served.names().is_empty(), "a reader is inside");
        inside.release().await.unwrap();
        writer.await.unwrap().unwrap();
        for reader in readers {
            reader.await.unwrap().unwrap();
        }
        assert_eq!(served.names(), ["writer", "reader", "reader"]);
    }
    assert!(store.is_empty().await);
}

pub(crate) async fn one_permit_does_not_overtake_three(store: Store) {
    let (one, other) = (store.client(), store.client());
    for client in [&one, &other] {
        let take = |take| client.lock(KEY).permits(5).take(take);
        let stays = at_once(one.lock(KEY).permits(5).take(2)).await;
        let leaves = at_once(one.lock(KEY).permits(5)).await;
        let served = Served::default();
        let three = served.caller("three", take(3));
        // Two permits are left, and are kept for the caller that came first.
        becomes_refused(take(1)).await;
        let last = served.caller("one", take(1));
        tokio::time::sleep(ms(50)).await;
        assert!(served.names().is_empty(), "three do not fit");
        leaves.release().await.unwrap();
        three.await.unwrap().unwrap();
        last.await.unwrap().unwrap();
        assert_eq!(served.names(), ["three", "one"]);
        stays.release().await.unwrap();
    }
    assert!(store.is_empty().await);
}

pub(crate) async fn readers_behind_a_writer_go_in_together(store: Store) {
    let (one, other) = (store.client(), store.client());
    for writer in [one.lock(KEY).write(), one.lock(KEY), other.lock(KEY)] {
        // With a wait, since a plain lock without one has a token from the start.
        let writer = writer.wait(ms(1)).acquire().await.unwrap();
        let readers = [&one, &other, &one, &other, &other];
        let readers = readers.map(|client| client.lock(KEY).read());
        let readers = waiting(readers.into()).await;
        writer.release().await.unwrap();
        let guards = together(readers).await;
        assert!(is_refused(one.lock(KEY).write()).await);
        release_all(guards).await;
    }
    assert!(store.is_empty().await);
}

pub(crate) async fn permits_that_fit_go_in_together(store: Store) {
    let (one, other) = (store.client(), store.client());
    let all = at_once(one.lock(KEY).permits(5).take(5)).await;
    let permits = [(&one, 2), (&other, 1), (&other, 2)];
    let permits = permits.map(|(client, take)| client.lock(KEY).permits(5).take(take));
    let permits = waiting(permits.into()).await;
    all.release().await.unwrap();
    let guards = together(permits).await;
    assert!(is_refused(one.lock(KEY).permits(5)).await);
    release_all(guards).await;
    assert!(store.is_empty().await);
}

pub(crate) async fn waiter_that_gives_up_admits_the_callers_behind_it(store: Store) {
    const WAIT: Duration = ms(1_500);
    let (one, other) = (store.client(), store.client());
    for impatient in [&one, &other] {
        let inside = at_once(one.lock(KEY).read()).await;
        let (lock, permits) = (
            || impatient.lock(KEY).wait(WAIT),
            || other.lock(KEY).permits(2),
        );
        for too_much in [lock().write(), lock().permits(2).take(2)] {
            let asked = Instant::now();
            let gives_up = tokio::spawn(too_much.acquire());
            becomes_refused(permits()).await;
            let guard = permits().wait(LONG).acquire().await.unwrap();
            assert!(asked.elapsed() >= WAIT, "it overtook the waiter");
            assert!(gives_up.await.unwrap().unwrap_err().is_busy());
            assert_eq!(token_of(&guard).await, token_of(&inside).await);
            guard.release().await.unwrap();
        }
        inside.release().await.unwrap();
    }
    assert!(store.is_empty().await);
}

/// Like a future that its task keeps while it does other things.
pub(crate) async fn writer_that_is_not_polled_keeps_readers_out_only_for_its_wait(store: Store) {
    let (one, other) = (store.client(), store.client());
    let inside = at_once(one.lock(KEY).read()).await;
    let mut writer = Box::pin(other.lock(KEY).write().wait(ms(1_500)).acquire());
    let mut context = Context::from_waker(Waker::noop());
    assert!(writer.as_mut().poll(&mut context).is_pending());
    becomes_refused(one.lock(KEY).read()).await;
    let behind = one.lock(KEY).read().wait(LONG).acquire().await.unwrap();
    assert!(writer.await.unwrap_err().is_busy());
    release_all(vec![inside, behind]).await;
    assert!(store.is_empty().await);
}
