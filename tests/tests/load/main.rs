//! More locks, callers and processes than there usually are.
//!
//! A binary of its own: each test keeps the background thread or the machine busy for longer than the leases of other
//! tests last. Only one test runs at a time.

mod contenders;
mod many_callers;
mod many_locks;
mod renewals;

use tokio::sync::Mutex;

/// A test holds this mutex while it runs.
static ALONE: Mutex<()> = Mutex::const_new(());
