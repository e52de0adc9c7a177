//! What a call allocates while nobody listens to what is told of it.
//!
//! Spans, events and metrics must not cost those who want none. One test, since it counts what the
//! whole process allocates.

use std::alloc::System;

use lock_runtime::LockClient;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CALLS: usize = 100;

/// As many as before there were spans. With metrics, labels are put together even where no recorder
/// takes them.
const A_CALL: usize = if cfg!(feature = "metrics") { 21 } else { 16 };

#[tokio::test]
async fn what_nobody_listens_to_allocates_nothing() {
    let client = LockClient::memory();
    let call = async || {
        let guard = client.lock("order:42").acquire().await.unwrap();
        guard.release().await.unwrap();
    };
    // The first one grows what the others find.
    call().await;
    let region = Region::new(COUNTING);
    for _ in 0..CALLS {
        call().await;
    }
    let allocated = region.change().allocations / CALLS;
    assert!(allocated <= A_CALL, "{allocated} allocations a call");
}
