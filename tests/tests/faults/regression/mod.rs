//! Promises that were broken once. The comment of each test says in a line what went wrong.

mod claims;
mod crowds;
mod destructors;
mod distance;
mod foreigners;
mod memory;
mod messages;
mod nesting;
mod reconnects;
mod refused;
mod renewal;
mod results;
mod shutdown;
mod turns;
mod unclaimed;
mod values;

use harness::{LONG, wait_until};
use lock_runtime::LockGuard;

/// Blocks the thread until the lock is lost, like a body that computes for too long.
fn outlast(guard: &LockGuard) {
    wait_until("end of the lease", LONG, || !guard.is_valid());
}
