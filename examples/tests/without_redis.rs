//! How to test a function that takes a lock, without a server and without real waits.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lock_runtime::{LockClient, LockError, distributed_lock, testing};
use tokio::time::{Instant, sleep};

/// The code under test: a warehouse packs an order in a minute, and never twice at the same time.
struct Warehouse {
    locks: LockClient,
    packed: AtomicU32,
}

const A_MINUTE: Duration = Duration::from_secs(60);

impl Warehouse {
    #[distributed_lock(key = "order:<id>", wait = "5m", max_hold = "10m", client = self.locks)]
    async fn pack(&self, id: u64) -> Result<(), LockError> {
        sleep(A_MINUTE).await;
        self.packed.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn new() -> Warehouse {
        Warehouse {
            locks: LockClient::memory(),
            packed: AtomicU32::new(0),
        }
    }

    fn packed(&self) -> u32 {
        self.packed.load(Ordering::SeqCst)
    }
}

#[tokio::test(start_paused = true)]
async fn order_is_packed_by_one_caller_at_a_time() {
    let warehouse = Warehouse::new();
    let started = Instant::now();
    let (one, other, third) = tokio::join!(warehouse.pack(1), warehouse.pack(1), warehouse.pack(2));
    one.and(other).and(third).unwrap();
    assert_eq!(started.elapsed(), 2 * A_MINUTE);
}

#[tokio::test(start_paused = true)]
async fn caller_waits_for_another_process() {
    let warehouse = Warehouse::new();
    let elsewhere = testing::occupy(&warehouse.locks, "order:1", "packer-7").unwrap();
    tokio::spawn(async {
        sleep(A_MINUTE).await;
        drop(elsewhere);
    });
    let started = Instant::now();
    warehouse.pack(1).await.unwrap();
    assert_eq!(started.elapsed(), 2 * A_MINUTE);
}

#[tokio::test(start_paused = true)]
async fn caller_whose_wait_ends_gets_the_holder() {
    let warehouse = Warehouse::new();
    let _elsewhere = testing::occupy(&warehouse.locks, "order:1", "packer-7").unwrap();
    let error = warehouse.pack(1).await.unwrap_err();
    assert!(error.is_busy());
    assert_eq!(error.holder(), Some("packer-7"));
    assert_eq!(error.waited(), Some(5 * A_MINUTE));
    assert_eq!(warehouse.packed(), 0);
}

#[tokio::test(start_paused = true)]
async fn packing_stops_when_the_lock_is_lost() {
    let warehouse = Warehouse::new();
    let locks = warehouse.locks.clone();
    tokio::spawn(async move {
        sleep(A_MINUTE / 2).await;
        testing::lose(&locks, "order:1").unwrap();
    });
    let started = Instant::now();
    let error = warehouse.pack(1).await.unwrap_err();
    assert!(error.is_lost());
    assert_eq!(started.elapsed(), A_MINUTE / 2);
    assert_eq!(warehouse.packed(), 0, "the body was stopped before its end");
}
