//! More locks, callers and processes than usual.
//!
//! A binary of its own: each test keeps the background thread or the machine busy for longer than the leases of other
//! tests last. Only one test runs at a time.

mod contenders;
mod many_callers;
mod many_locks;
mod renewals;

use std::time::Duration;

use harness::LONG;
use lock_runtime::{LockClient, LockGuard};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

/// A test holds this mutex while it runs.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Acquires this many locks at the same time.
async fn take_in_a_burst(client: &LockClient, locks: u32, ttl: Duration) -> Vec<LockGuard> {
    let mut callers = JoinSet::new();
    for number in 0..locks {
        let lock = client.lock(format!("bulk:{number}"));
        callers.spawn(lock.ttl(ttl).wait(LONG).acquire());
    }
    let guards = callers.join_all().await.into_iter();
    guards.map(|guard| guard.expect("it is free")).collect()
}
