//! The cost of a call, in what can be counted: commands, bytes, allocations, and memory.
//!
//! A binary of its own: its allocator counts for the whole process, so only one test runs at a time.

mod calls;
mod memory_per_lock;

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::sync::{Mutex, MutexGuard};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A test holds this mutex while it runs, since it counts what the whole process does.
async fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::const_new(());
    ALONE.lock().await
}
