//! Detects forked children, which have their parent's memory but only one of its threads.

use std::cell::Cell;

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
}
