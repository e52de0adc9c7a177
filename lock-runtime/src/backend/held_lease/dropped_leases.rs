//! Keeps leases that are dropped, so that somebody can await their release.
//!
//! A lease that is dropped is released in the background. Who drops a body on purpose may want to know when its lock is
//! free.

use std::cell::RefCell;

use super::HeldLease;
use crate::key::LockKey;

thread_local! {
    static KEEPING: RefCell<Option<Keeping>> = const { RefCell::new(None) };
}

struct Keeping {
    keys: Vec<LockKey>,
    kept: Vec<HeldLease>,
}

/// Returns the leases with one of these keys that `dropping` drops on this thread. Dropping them releases them.
///
/// Other leases are released as always: a destructor may wait for a lock that was dropped just before.
pub(crate) fn keep_dropped(keys: Vec<LockKey>, dropping: impl FnOnce()) -> Vec<HeldLease> {
    let kept = Vec::new();
    let keeping = Restore(KEEPING.replace(Some(Keeping { keys, kept })));
    dropping();
    let kept = KEEPING.take();
    drop(keeping);
    kept.map_or_else(Vec::new, |keeping| keeping.kept)
}

/// Restores what was there before, even after a panic.
struct Restore(Option<Keeping>);

impl Drop for Restore {
    fn drop(&mut self) {
        // Dropped where the cell is free again: leases are released.
        drop(KEEPING.replace(self.0.take()));
    }
}

/// Keeps a lease that is being dropped, if somebody waits for it on this thread.
pub(super) fn keep(lease: &mut HeldLease) -> bool {
    // While a thread exits nobody does.
    let kept = KEEPING.try_with(|keeping| {
        let mut keeping = keeping.borrow_mut();
        let keeping = keeping.as_mut()?;
        let is_asked_for = |key: &LockKey| lease.keys.contains(key.as_str());
        if keeping.keys.iter().any(is_asked_for) {
            keeping.kept.push(lease.moved());
        }
        lease.lease.is_none().then_some(())
    });
    kept.ok().flatten().is_some()
}
