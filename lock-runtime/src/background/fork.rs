//! Forked children, which have the memory of their parent and one of its threads.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Whether this process is not `process`, but was forked from it. A system call.
pub(crate) fn is_forked_from(process: u32) -> bool {
    std::process::id() != process
}

/// Locks `mutex`, which was made in `process`. `None` in a forked child that finds it locked.
///
/// The thread that locked it may not exist in the child, and then the mutex stays locked for ever. The
/// process is only compared if the mutex is locked, since that is a system call.
pub(crate) fn lock_unless_forked<T>(mutex: &Mutex<T>, process: u32) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) if is_forked_from(process) => None,
        Err(TryLockError::WouldBlock) => Some(mutex.lock().unwrap_or_else(PoisonError::into_inner)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_mutex_is_waited_for_only_where_it_was_made() {
        let mutex = Mutex::new(1);
        let here = std::process::id();
        let elsewhere = here ^ 1;
        assert!(lock_unless_forked(&mutex, elsewhere).is_some());
        let locked = mutex.lock().unwrap();
        assert!(lock_unless_forked(&mutex, elsewhere).is_none());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| *lock_unless_forked(&mutex, here).expect("it waits"));
            drop(locked);
            assert_eq!(waiting.join().unwrap(), 1);
        });
    }
}
