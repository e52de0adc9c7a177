//! The effect of each option, on clients of single tests.

mod assert_locked;
mod installed;
mod key_part;
mod keys;
mod leases;
mod lock_key;
mod modes;
mod runs;
mod several_keys;

use lock_runtime::{Acquire, LockClient};

/// Whether a lock is available at once, asked from a call tree of its own.
fn is_open(ask: Acquire) -> bool {
    let asked = std::thread::spawn(move || match ask.try_acquire_blocking()? {
        Some(guard) => guard.release_blocking().map(|()| true),
        None => Ok(false),
    });
    let asked = asked.join().expect("asking does not panic");
    asked.expect("the memory backend always answers")
}

fn held(locks: &LockClient, key: &str) -> bool {
    !is_open(locks.lock(key))
}
