//! The attribute: on functions of every shape in memory, on the runtimes of one process, and its
//! misuse.
//!
//! `runtimes` installs the client of the process; no other test here needs one. `installed` has clients of single
//! futures.

mod arguments;
mod drops;
mod futures;
mod hygiene;
mod installed;
mod key_part;
mod keys;
mod lints;
mod mistakes;
mod modes;
mod options;
mod receivers;
mod release;
mod returns;
mod runtimes;
mod several_keys;
mod stacking;

use std::error::Error;
use std::fmt;
use std::time::Duration;

use lock_runtime::{LockClient, LockError};

/// Whether the lock is held, asked from a call tree of its own.
fn held(locks: &LockClient, key: &str) -> bool {
    let ask = locks.lock(key).wait(Duration::ZERO);
    std::thread::spawn(move || ask.try_acquire_blocking())
        .join()
        .expect("asking does not panic")
        .expect("the memory backend always answers")
        .is_none()
}

/// Waits until the lock is available; a dropped guard is released in the background.
fn assert_released(locks: &LockClient, key: &str) {
    let ask = locks.lock(key).wait(Duration::from_secs(10));
    let acquired = std::thread::spawn(move || ask.acquire_blocking()).join();
    drop(
        acquired
            .expect("asking does not panic")
            .expect("the lock was released"),
    );
}

/// An application's error.
#[derive(Debug)]
enum AppError {
    Lock(LockError),
    Own,
}

impl From<LockError> for AppError {
    fn from(error: LockError) -> AppError {
        AppError::Lock(error)
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Error for AppError {}
