//! Detects forked children, which have their parent's memory but only one of its threads.

use std::cell::Cell;

thread_local! {
    /// Whether the process was compared before this thread's current poll.
    static IS_COMPARED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this process was forked from `process`. A system call, unless the process was [compared](after_comparison)
/// before.
pub(crate) fn is_forked_from(process: u32) -> bool {
    !IS_COMPARED.get() && std::process::id() != process
}

/// Polls a task right after its caller has compared the process, which is not compared again in this poll.
///
/// A child has only the thread that forked it, and this crate does not fork. So the process is the same until code of
/// the application [runs](forget_comparison), at the latest after the poll.
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

/// Makes the next check compare the process again: code of the application runs next, and may fork.
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
