//! Detects forked children, which have their parent's memory but only one of its threads.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

thread_local! {
    /// Whether this thread compared the process id before its current poll.
    static IS_COMPARED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this process is a fork of `process`. Costs a system call, unless it runs in a poll [after a
/// comparison](after_comparison).
pub(crate) fn is_forked_from(process: u32) -> bool {
    !IS_COMPARED.get() && std::process::id() != process
}

/// Polls a task whose caller has just compared the process id, so that checks within this poll need no system call.
///
/// The crate itself does not fork, and a child has only the thread that forked it. So the id stays the same until code
/// of the application [runs](forget_comparison), at the latest after the poll.
pub(crate) fn after_comparison<T>(poll: impl FnOnce() -> T) -> T {
    struct ForgetOnDrop;
    impl Drop for ForgetOnDrop {
        fn drop(&mut self) {
            forget_comparison();
        }
    }
    let _forget = ForgetOnDrop;
    IS_COMPARED.set(true);
    poll()
}

/// Makes the next check compare the process id again: the application's code runs next, and may fork.
pub(crate) fn forget_comparison() {
    IS_COMPARED.set(false);
}

/// Locks `mutex`, which was created in `process`. Returns `None` in a forked child that finds it locked.
///
/// The thread that locked it may not exist in the child, and then the mutex stays locked for ever. The process id is
/// only compared if the mutex is locked, since that costs a system call.
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
    use crate::background::panics::catch_panics;

    #[test]
    fn process_is_compared_again_after_the_poll_and_after_code_of_the_application() {
        let elsewhere = std::process::id() ^ 1;
        let is_noticed = || is_forked_from(elsewhere);
        assert!(is_noticed());
        after_comparison(|| {
            assert!(!is_noticed());
            catch_panics(|| assert!(is_noticed(), "the application may have forked"));
            assert!(is_noticed(), "it may have returned in the child");
        });
        assert!(is_noticed());
        catch_panics(|| after_comparison(|| std::panic::resume_unwind(Box::new(()))));
        assert!(is_noticed());
    }

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
