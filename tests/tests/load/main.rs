//! More locks and callers than a process usually has.
//!
//! A binary of its own: each test keeps the background thread busy for longer than the leases of other
//! tests last. Only one test runs at a time.

mod many_callers;
mod many_locks;

use tokio::sync::{Mutex, MutexGuard};

/// A test holds this mutex while it runs.
async fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::const_new(());
    ALONE.lock().await
}
