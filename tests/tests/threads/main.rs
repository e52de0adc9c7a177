//! The threads and runtimes that share one client, and the background thread behind them.
//!
//! A binary of its own: the tests count the background tasks and thread wake-ups of the whole process,
//! and a busy machine looks like a blocked runtime. So only one test runs at a time.

#[cfg(target_os = "linux")]
mod callers_of_all_kinds;
#[cfg(target_os = "linux")]
mod synchronous_callers;
mod transport;

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A test holds this mutex while it runs, since it counts what the whole process does.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A failed test must not fail all others.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kernel's report on the threads of this name.
fn statuses(name: &str) -> impl Iterator<Item = String> {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let threads = threads.map(|thread| thread.unwrap().path());
    // A thread that ends meanwhile has no state.
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let named = threads.filter(move |thread| read(thread.join("comm")).trim() == name);
    named.map(move |thread| read(thread.join("status")))
}
