//! Mutexes that a forked child may find held.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Locks `mutex`, which was made in `process`. `None` in a forked child that finds it held: perhaps by
/// a thread that was not copied, and so for ever. Only then is it looked in which process this is,
/// since that is a system call.
pub(crate) fn lock_unless_forked<T>(mutex: &Mutex<T>, process: u32) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) if std::process::id() == process => {
            Some(mutex.lock().unwrap_or_else(PoisonError::into_inner))
        }
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutex_that_is_held_is_waited_for_where_it_was_made() {
        let mutex = Mutex::new(1);
        let here = std::process::id();
        let elsewhere = here ^ 1;
        assert!(lock_unless_forked(&mutex, elsewhere).is_some());
        let held = mutex.lock().unwrap();
        assert!(lock_unless_forked(&mutex, elsewhere).is_none());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| *lock_unless_forked(&mutex, here).expect("it waits"));
            drop(held);
            assert_eq!(waiting.join().unwrap(), 1);
        });
    }
}
