//! The metrics, by name and label.

use std::future::poll_fn;
use std::task::Poll;

use lock_runtime::distributed_lock;

use super::meter::{all, record, recorded, sum};
use super::{LONG, LockClient, LockError, eventually, ms, server_and_client};

#[distributed_lock(key = "counted:<id>", wait = ms(wait), client = locks)]
async fn counted(locks: &LockClient, id: &str, wait: u64) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn calls_waits_and_holds_are_counted_by_template_and_outcome() {
    record();
    let locks = LockClient::memory();
    let waiters = || sum("distributed_lock_waiters{template=counted:<id>}");
    counted(&locks, "discreet", 0).await.unwrap();
    assert_eq!(waiters(), 0.0);

    let holder = locks.lock("counted:discreet").acquire().await.unwrap();
    counted(&locks, "discreet", 0).await.unwrap_err();
    let waiting = tokio::spawn({
        let locks = locks.clone();
        async move { counted(&locks, "discreet", 60_000).await }
    });
    eventually("waiter", LONG, async || waiters() == 1.0).await;
    tokio::time::sleep(ms(20)).await;
    holder.release().await.unwrap();
    waiting.await.unwrap().unwrap();
    assert_eq!(waiters(), 0.0);

    let labels = |outcome| format!("{{template=counted:<id>,outcome={outcome}}}");
    let series = |name, outcome| format!("distributed_lock_{name}{}", labels(outcome));
    let calls = |outcome| sum(&series("acquisitions_total", outcome));
    assert_eq!((calls("acquired"), calls("busy")), (2.0, 1.0));
    let waits = recorded(&series("wait_seconds", "acquired"));
    let is_told = waits.len() == 2 && (0.019..20.0).contains(&waits[1]);
    assert!(is_told, "{waits:?}");
    let holds = recorded(&series("hold_seconds", "released"));
    assert!(holds.len() == 2 && holds[0] < 20.0, "{holds:?}");
    let all = all();
    assert!(
        !all.iter().any(|series| series.contains("discreet")),
        "{all:?}"
    );
    for described in [
        "distributed_lock_wait_seconds seconds",
        "distributed_lock_waiters ",
    ] {
        assert!(all.iter().any(|series| series == described), "{all:?}");
    }
}

#[distributed_lock(key = "dropped-in-line", client = locks)]
async fn dropped_in_line(locks: &LockClient) -> Result<(), LockError> {
    Ok(())
}

#[tokio::test]
async fn a_waiter_that_goes_away_is_not_counted() {
    record();
    let locks = LockClient::memory();
    let _holder = locks.lock("dropped-in-line").acquire().await.unwrap();
    let waiting = tokio::time::timeout(ms(20), dropped_in_line(&locks));
    waiting.await.unwrap_err();
    let labels = "{template=dropped-in-line";
    assert_eq!(sum(&format!("distributed_lock_waiters{labels}}}")), 0.0);
    let calls = format!("distributed_lock_acquisitions_total{labels},outcome=dropped}}");
    assert_eq!(sum(&calls), 1.0);
}

/// The gauge counts the whole process: other tests hold a few locks meanwhile.
#[tokio::test]
async fn held_locks_are_counted_until_they_are_released_dropped_or_lost() {
    record();
    const MANY: usize = 900;
    const FEW: f64 = 100.0;
    let held = || sum("distributed_lock_held{}");
    let locks = LockClient::memory();
    let before = held();
    let mut guards = Vec::new();
    for number in 0..MANY {
        let lock = locks.lock(format!("held:{number}"));
        guards.push(lock.acquire().await.unwrap());
    }
    assert!(held() > before + MANY as f64 - FEW, "{before}: {}", held());
    for (number, guard) in guards.into_iter().enumerate() {
        match number % 3 {
            0 => guard.release().await.unwrap(),
            1 => drop(guard),
            _ => {
                lock_runtime::testing::lose(&locks, guard.key()).unwrap();
                guard.release().await.unwrap_err();
            }
        }
    }
    assert!(held() < before + FEW, "{before}: {}", held());

    // Callers that leave while their locks are downgraded to readers' locks.
    drop_downgrades(MANY).await;
    let ends =
        recorded("distributed_lock_hold_seconds{template=downgrade-dropped,outcome=dropped}");
    assert_eq!(ends.len(), MANY);
    assert!(held() < before + FEW, "{before}: {}", held());
}

async fn drop_downgrades(count: usize) {
    let (server, locks) = server_and_client();
    let mut guards = Vec::new();
    for number in 0..count {
        let lock = locks.lock(format!("downgrade-dropped:{number}"));
        let lock = lock.name("downgrade-dropped").ttl(LONG).write();
        guards.push(lock.acquire().await.unwrap());
    }
    server.pause();
    for guard in guards {
        let mut downgrading = Box::pin(guard.downgrade());
        let polled = poll_fn(|context| Poll::Ready(downgrading.as_mut().poll(context)));
        assert!(polled.await.is_pending());
    }
}
