//! Calls foreign code, and contains its panics.
//!
//! The application and its runtime provide wakers, subscribers and recorders, which may panic. A lock must not stay
//! taken for that, nor a lease go unrenewed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// Calls code that may panic. Returns `None` if it did, after the panic hook has printed the message.
pub(crate) fn catch_panics<T>(call: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}

/// Wakes all of `wakers`, even after one of them has panicked.
///
/// Must not be called with a mutex held: a waker may poll its task at once, or lock anything.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        catch_panics(|| waker.wake());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Wake;

    use super::*;

    struct Panicking;

    impl Wake for Panicking {
        fn wake(self: Arc<Self>) {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
    }

    #[derive(Default)]
    struct Counting(AtomicU32);

    impl Wake for Counting {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn panicking_waker_does_not_stop_the_next_waker() {
        let count = Arc::new(Counting::default());
        wake_all([Waker::from(Arc::new(Panicking)), Waker::from(count.clone())]);
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
    }
}
