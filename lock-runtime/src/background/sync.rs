//! A mutex without poisoning.

use std::sync::{self, MutexGuard, PoisonError, TryLockError};

use crate::background::fork::Origin;

/// A mutex that ignores poisoning.
///
/// Code that may panic under a mutex leaves its contents usable. So a panic in one caller must not make others fail,
/// keep a lock taken, or stop the renewal of a lease.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) const fn new(value: T) -> Mutex<T> {
        Mutex(sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if the mutex is locked at this moment.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Locks a mutex that was created in the process `origin`. Returns `None` in a forked child that finds it locked.
    ///
    /// The thread that locked it may not exist in the child, and then the mutex stays locked for ever.
    pub(crate) fn lock_unless_forked(&self, origin: &Origin) -> Option<MutexGuard<'_, T>> {
        if let Some(guard) = self.try_lock() {
            return Some(guard);
        }
        (!origin.is_forked()).then(|| self.lock())
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn contents_stay_usable_after_a_panic() {
        let mut mutex = Mutex::new(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            *mutex.lock() += 1;
            let _locked = mutex.lock();
            std::panic::resume_unwind(Box::new("on purpose"));
        }));
        assert!(panicked.is_err());
        assert_eq!(*mutex.lock(), 2);
        assert_eq!(*mutex.try_lock().expect("it is free"), 2);
        assert_eq!(
            *mutex
                .lock_unless_forked(&Origin::here())
                .expect("it is free"),
            2
        );
        assert_eq!(*mutex.get_mut(), 2);
    }

    #[test]
    fn locked_mutex_is_not_locked_twice() {
        let mutex = Mutex::new(());
        let _locked = mutex.lock();
        assert!(mutex.try_lock().is_none());
    }

    /// `tests/fork` shows that a child does not wait.
    #[test]
    fn locked_mutex_is_waited_for_where_it_was_made() {
        let (mutex, here) = (Mutex::new(1), Origin::here());
        let locked = mutex.lock();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| *mutex.lock_unless_forked(&here).expect("it waits"));
            drop(locked);
            assert_eq!(waiting.join().unwrap(), 1);
        });
    }
}
