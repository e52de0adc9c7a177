//! Tests waiters and holders on threads and runtimes. The store has its own tests.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::LockGuard;
use crate::backend::any::AnyBackend;
use crate::backend::redis::block_on;
use crate::client::LockClient;
use crate::key::{Lock, LockKey, OneOrMore, RecordNames};
use crate::lease::Mode;
use crate::lease::schedule::LeaseTerms;
use crate::telemetry::CallLabels;

const KEY: &str = "order:42";
const LONG: Duration = Duration::from_secs(60);

fn store(client: &LockClient) -> Arc<Memory> {
    match &client.core().backend {
        AnyBackend::Memory(memory) => memory.clone(),
        _ => panic!("not a memory client"),
    }
}

fn take(client: &LockClient) -> Result<LockGuard, LockError> {
    client.lock(KEY).wait(LONG).acquire_blocking()
}

fn eventually(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < LONG, "{what} never came");
        thread::yield_now();
    }
}

/// Blocks until the queue has `number` waiters.
fn line_of(client: &LockClient, number: usize) {
    let memory = store(client);
    eventually("a waiter", || memory.store.lock().queue_len(KEY) == number);
}

#[test]
fn threads_and_futures_without_a_runtime_are_served_in_order() {
    let client = LockClient::memory();
    let first = take(&client).unwrap();
    let (served, order) = mpsc::channel();
    thread::scope(|scope| {
        for place in 0..6 {
            let (client, served) = (client.clone(), served.clone());
            let waiting = client.clone();
            scope.spawn(move || {
                let guard = match place % 3 {
                    0 => take(&client),
                    1 => block_on(client.lock(KEY).wait(LONG).acquire()),
                    _ => tokio::runtime::Builder::new_current_thread()
                        .build()
                        .unwrap()
                        .block_on(async { take(&client) }),
                };
                served.send(place).unwrap();
                guard.unwrap().release_blocking().unwrap();
            });
            line_of(&waiting, place + 1);
        }
        first.release_blocking().unwrap();
    });
    assert_eq!(order.try_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert!(store(&client).store.lock().is_empty());
}

#[test]
fn granted_future_that_is_dropped_without_a_runtime_passes_the_lock_on() {
    let client = LockClient::memory();
    let first = take(&client).unwrap();
    {
        let mut waiting = pin!(client.lock(KEY).wait(LONG).acquire());
        let mut noop = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut noop).is_pending());
        first.release_blocking().unwrap();
        assert!(!store(&client).store.lock().is_empty(), "it is granted");
    }
    assert!(store(&client).store.lock().is_empty());
}

#[test]
fn blocking_holder_is_notified_of_its_loss_and_the_waiter_served() {
    let client = LockClient::memory();
    let schedule = || client.lock(KEY).wait(LONG).renew(false);
    let held = schedule().ttl(Duration::from_secs(2)).acquire_blocking();
    let held = held.unwrap();
    thread::scope(|scope| {
        let next = scope.spawn(|| take(&client));
        // A renewal moves the deadline, so the first timer is not the last.
        line_of(&client, 1);
        block_on(held.renew()).unwrap();
        assert!(held.is_valid());
        // The holder itself does not check the clock.
        eventually("the end", || held.frame().lease().is_known_lost());
        next.join().unwrap().unwrap().release_blocking().unwrap();
    });
    assert!(held.release_blocking().unwrap_err().is_lost());
}

/// Paused time keeps the holder's own timer from firing first. If nothing else notifies the holder, the test fails at
/// once.
#[tokio::test(start_paused = true)]
async fn holder_whose_runtime_blocks_past_its_lease_is_notified_of_the_loss() {
    let client = LockClient::memory();
    let lease = client.lock(KEY).ttl(Duration::from_millis(50)).renew(false);
    let held = lease.acquire().await.unwrap();
    let mut lost = pin!(held.lost());
    let first_poll = poll_fn(|cx| Poll::Ready(lost.as_mut().poll(cx))).await;
    assert!(first_poll.is_pending());
    thread::scope(|scope| {
        let next = scope.spawn(|| take(&client).unwrap());
        next.join().unwrap().release_blocking().unwrap();
    });
    let notified = tokio::time::timeout(LONG, lost).await;
    assert!(notified.is_ok(), "the holder is not notified");
}

#[test]
fn lease_that_expires_before_it_is_watched_is_lost() {
    let memory = Memory::new();
    let key = LockKey::from(KEY);
    let names = RecordNames::new("", &key).unwrap();
    let request = Request {
        locks: OneOrMore::from(Lock { key, names }),
        mode: Mode::Exclusive,
        terms: LeaseTerms {
            ttl: LONG,
            renew: true,
            max_hold: None,
            retain: Duration::ZERO,
            min_hold_ms: 0,
        },
        wait: Duration::ZERO,
        fenced: false,
        label: "a caller".into(),
        labels: CallLabels::new("", ""),
        run: None,
    };
    let grant = memory
        .attempt(&request, Clock::Real.now())
        .unwrap()
        .unwrap();
    let lease = memory.lease(&request, Clock::Real, grant);
    assert!(!lease.is_known_lost());
    assert!(memory.free(&lease));
    let lease = memory.lease(&request, Clock::Real, grant);
    assert!(lease.is_known_lost());
}

fn downgrade(client: &LockClient, guard: &LockGuard) -> Arc<Lease> {
    let writer = guard.frame().lease().shared();
    let reader = block_on(store(client).downgrade(writer));
    reader.unwrap().deliver()
}

#[test]
fn downgraded_lease_is_renewed_and_lost() {
    let client = LockClient::memory();
    let terms = client.lock(KEY).ttl(LONG).renew(false);
    let guard = terms.acquire_blocking().unwrap();
    let memory = store(&client);
    let reader = downgrade(&client, &guard);
    assert!(reader.known_token() > guard.token());
    assert!(memory.live().iter().all(|live| Arc::ptr_eq(live, &reader)));
    assert_eq!(reader.deadline(), guard.frame().lease().deadline());
    let before = reader.deadline();
    block_on(memory.clone().renew(reader.clone())).unwrap();
    assert!(reader.deadline() > before);
    assert!(
        !guard.frame().lease().is_known_lost(),
        "it is replaced, not lost"
    );
    let other = client.lock(KEY).read().acquire_blocking().unwrap();
    assert_eq!(other.token(), reader.known_token());
    assert!(memory.revoke(KEY));
    assert!(reader.is_known_lost());
    assert!(!other.is_valid(), "all that share the lock lose it");
}

/// The timer belongs to the new lease, with or without a runtime.
#[tokio::test(start_paused = true)]
async fn downgraded_lease_ends_when_the_writers_would() {
    let client = LockClient::memory();
    let terms = client.lock(KEY).ttl(Duration::from_secs(5));
    let terms = terms.max_hold(Duration::from_secs(20));
    let guard = terms.acquire().await.unwrap();
    tokio::time::sleep(Duration::from_secs(15)).await;
    let reader = downgrade(&client, &guard);
    let lost = tokio::time::timeout(Duration::from_secs(5), reader.lost()).await;
    assert_eq!(lost, Ok(LossReason::MaxHold));
    assert!(
        client.lock(KEY).try_acquire().await.unwrap().is_none(),
        "its margin goes on"
    );
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(client.lock(KEY).try_acquire().await.unwrap().is_some());
}

#[test]
fn lease_of_a_runtime_that_is_gone_is_downgraded() {
    let client = LockClient::memory();
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().build().unwrap();
    let terms = client.lock(KEY).ttl(LONG).renew(false);
    let guard = runtime.block_on(terms.acquire()).unwrap();
    drop(runtime);
    let reader = downgrade(&client, &guard);
    assert!(reader.loss().is_none());
}
