//! The allocations of a call without subscribers or recorders.
//!
//! Spans, events and metrics must cost nothing while they are not used. This binary has only one test, since it counts
//! the allocations of the whole process.

use std::alloc::System;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lock_runtime::{LockClient, LockError, LockGuard, distributed_lock};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

static CLIENT: LazyLock<LockClient> = LazyLock::new(LockClient::memory);

const CALLS: usize = 100;

/// With metrics, labels are built even without a recorder.
const A_CALL: usize = if cfg!(feature = "metrics") { 14 } else { 9 };

/// The allocations of the attribute in addition to those of a guard: the call tree that its body opens, and two boxes
/// that save some 900 bytes in the future of each locked function, less the string for the key of a guard.
const ATTRIBUTE: usize = 2;

#[distributed_lock(key = "order:<id>", client = *CLIENT)]
async fn ship(id: u64) -> Result<(), LockError> {
    Ok(())
}

async fn by_hand(id: u64) -> Result<(), LockError> {
    let guard = CLIENT.lock(format!("order:{id}")).acquire().await?;
    guard.release().await
}

/// More calls for two keys than the number of such keys that a client remembers.
const MANY: usize = 600;

/// Locks two accounts, different ones in each call.
async fn transfer(wait: Duration) -> Result<(), LockError> {
    static ACCOUNT: AtomicU64 = AtomicU64::new(1_000);
    let from = ACCOUNT.fetch_add(2, Ordering::Relaxed);
    let keys = [from, from + 1].map(|id| format!("account:{id}"));
    let call = CLIENT.lock_all(keys).name("account:<>").wait(wait);
    call.acquire().await?.release().await
}

/// The number of allocations of `call`.
async fn count(call: impl AsyncFn() -> Result<(), LockError>) -> usize {
    // The first call grows buffers that later calls reuse.
    call().await.unwrap();
    let region = Region::new(COUNTING);
    for _ in 0..CALLS {
        call().await.unwrap();
    }
    let change = region.change();
    (change.allocations + change.reallocations) / CALLS
}

#[tokio::test]
async fn calls_allocate_as_little_as_possible() {
    let by_hand = count(async || by_hand(42).await).await;
    assert!(by_hand <= A_CALL, "{by_hand} allocations a guard");
    let attribute = count(async || ship(42).await).await;
    assert!(
        attribute <= by_hand + ATTRIBUTE,
        "{attribute} allocations of the attribute, {by_hand} of a guard"
    );
    // The order of the locks is compared with the order of earlier calls.
    let inside = async |_: &LockGuard| count(async || ship(42).await).await;
    let nested = CLIENT.lock("customer:7").run(inside).await.unwrap();
    assert_eq!(nested, attribute, "a call inside another lock");
    // A call for several keys that does not wait takes all or none, and is not compared.
    let both = async |wait| {
        let call = CLIENT.lock_all(["order:42", "customer:7"]).wait(wait);
        call.acquire().await?.release().await
    };
    let (patient, none) = (Duration::from_secs(1), Duration::ZERO);
    let trying = count(async || both(none).await).await;
    let waiting = count(async || both(patient).await).await;
    assert_eq!(waiting, trying, "a call for several keys");
    for _ in 0..MANY {
        transfer(patient).await.unwrap();
    }
    let trying = count(async || transfer(none).await).await;
    let waiting = count(async || transfer(patient).await).await;
    assert_eq!(waiting, trying, "a call for new keys of a known class");
}
