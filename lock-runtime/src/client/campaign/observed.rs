//! What a campaign has seen of the locks of one call, and whose failure ended the call.

use super::lock_error_of::Cause;
use crate::backend::any::AnyBackend;
use crate::error::LockError;
use crate::key::{LockKey, OneOrMore};

/// What a campaign has seen of the *led* lock of one call: the first lock that the call has. A lock that it takes later is
/// its body's, whether the led lock has a body that the [observer](super::observer) can tell, or a guard.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// The keys of the led lock; none before the call has it.
    led: Vec<LockKey>,
    /// The grants of the led lock that are not reported yet, each by its first key.
    granted: Vec<LockKey>,
    /// Whether the call releases the led lock now.
    is_releasing: bool,
    /// The failure of the led lock, or before there is one of the latest lock, unless a grant came after it.
    failure: Option<LockError>,
    /// The store that the latest failure is from. A lost lock has none: it is stood for without a pause.
    backend: Option<AnyBackend>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallEnd<'a> {
    Returned,
    Failed(Cause<'a>),
}

impl Observed {
    /// Notes that the call has a lock with these keys.
    pub(super) fn grant(&mut self, keys: &OneOrMore<LockKey>) {
        if self.led.is_empty() {
            self.led.extend(keys.iter().cloned());
        } else if !self.led.iter().any(|led| keys.contains(led.as_str())) {
            return;
        }
        self.granted.push(keys.first().clone());
        self.failure = None;
    }

    /// Notes that a lock of the call failed: it was not acquired, or was lost and the call's result is that.
    pub(super) fn fail(&mut self, error: &LockError, backend: Option<&AnyBackend>) {
        if !self.led.is_empty() && !self.is_of_led(error) {
            return;
        }
        self.failure = Some(error.duplicate());
        self.backend = backend.cloned();
    }

    /// Notes that the call releases its lock with these keys.
    pub(super) fn begin_release(&mut self, keys: &OneOrMore<LockKey>) {
        self.is_releasing = self.led.iter().any(|led| keys.contains(led.as_str()));
    }

    /// Notes that the release is over, or is no longer awaited.
    pub(super) fn end_release(&mut self) {
        self.is_releasing = false;
    }

    /// Returns whether the call releases the led lock now.
    pub(super) fn is_releasing(&self) -> bool {
        self.is_releasing
    }

    /// Returns the grants that are not reported yet.
    pub(super) fn take_granted(&mut self) -> Vec<LockKey> {
        std::mem::take(&mut self.granted)
    }

    pub(super) fn led(&self) -> &[LockKey] {
        &self.led
    }

    pub(super) fn backend(&self) -> Option<&AnyBackend> {
        self.backend.as_ref()
    }

    /// Returns the failure of the led lock that ended the call so; `None` if anything else ended it.
    pub(super) fn failure<'a>(&'a self, end: CallEnd<'a>) -> Option<&'a LockError> {
        match end {
            // A call that skips when its lock is busy returns without having led.
            CallEnd::Returned if self.led.is_empty() => self.failure.as_ref(),
            CallEnd::Returned => None,
            CallEnd::Failed(Cause::Lock(found)) => self.is_led(found).then_some(found),
            CallEnd::Failed(Cause::Unknown) => self.failure.as_ref(),
            CallEnd::Failed(Cause::Other) => None,
        }
    }

    /// Returns whether an error is the led lock's. A guard reports a loss itself, before its lock is released.
    fn is_led(&self, found: &LockError) -> bool {
        let is_failure = self
            .failure
            .as_ref()
            .is_some_and(|failure| (failure.kind(), failure.key()) == (found.kind(), found.key()));
        is_failure || found.is_lost() && self.is_of_led(found)
    }

    fn is_of_led(&self, error: &LockError) -> bool {
        let is_led = |key: &str| self.led.iter().any(|led| led.as_str() == key);
        error.key().is_some_and(is_led)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::LockErrorKind::{self, Busy, Lost, Unavailable};

    fn error(kind: LockErrorKind, key: &str) -> LockError {
        LockError::new(kind).with_key(&LockKey::from(key))
    }

    /// The locks of a call: an error is a failure.
    fn observed(locks: &[(&str, Option<LockErrorKind>)]) -> Observed {
        let mut observed = Observed::default();
        for (key, failure) in locks {
            match failure {
                None => observed.grant(&LockKey::from(*key).into()),
                Some(kind) => observed.fail(&error(*kind, key), None),
            }
        }
        observed
    }

    fn kind(observed: &Observed, end: CallEnd<'_>) -> Option<LockErrorKind> {
        observed.failure(end).map(LockError::kind)
    }

    #[test]
    fn failure_to_get_the_lock_is_the_led_locks() {
        for failure in [Busy, Lost, Unavailable] {
            let observed = observed(&[("a", Some(failure))]);
            let found = error(failure, "a");
            assert_eq!(
                kind(&observed, CallEnd::Failed(Cause::Lock(&found))),
                Some(failure)
            );
            // Of an error that hides its cause, the lock's failure is the last that is known.
            assert_eq!(
                kind(&observed, CallEnd::Failed(Cause::Unknown)),
                Some(failure)
            );
            assert_eq!(kind(&observed, CallEnd::Failed(Cause::Other)), None);
        }
    }

    #[test]
    fn failure_of_a_nested_lock_is_the_bodys() {
        let leading = observed(&[("a", None)]);
        for failure in [Busy, Lost, Unavailable] {
            let nested = error(failure, "b");
            assert_eq!(kind(&leading, CallEnd::Failed(Cause::Lock(&nested))), None);
        }
        let sibling = error(Busy, "a");
        assert_eq!(kind(&leading, CallEnd::Failed(Cause::Lock(&sibling))), None);
        assert_eq!(
            kind(&leading, CallEnd::Failed(Cause::Unknown)),
            None,
            "no lock at all"
        );
    }

    #[test]
    fn loss_of_a_lock_that_was_held_is_the_led_locks() {
        let lost = error(Lost, "a");
        let end = CallEnd::Failed(Cause::Lock(&lost));
        let by_hand = observed(&[("a", None)]);
        assert_eq!(kind(&by_hand, end), Some(Lost));
        let released = observed(&[("a", None), ("a", Some(Lost))]);
        assert_eq!(kind(&released, end), Some(Lost));
        assert_eq!(kind(&released, CallEnd::Failed(Cause::Unknown)), Some(Lost));
        let among_others = observed(&[("a", None), ("b", None), ("b", Some(Busy))]);
        assert_eq!(kind(&among_others, end), Some(Lost));
    }

    #[test]
    fn lock_that_is_taken_while_a_guard_leads_is_the_bodys() {
        for failure in [Busy, Lost, Unavailable] {
            let nested = error(failure, "b");
            let refused = [("a", None), ("b", Some(failure))];
            let had = [("a", None), ("b", None), ("b", Some(failure))];
            for observed in [observed(&refused), observed(&had)] {
                assert_eq!(kind(&observed, CallEnd::Failed(Cause::Lock(&nested))), None);
                assert_eq!(kind(&observed, CallEnd::Failed(Cause::Unknown)), None);
            }
        }
    }

    #[test]
    fn earlier_failure_of_a_call_that_went_on_does_not_count() {
        let went_on = observed(&[("b", Some(Busy)), ("a", None)]);
        let nested = error(Busy, "b");
        assert_eq!(kind(&went_on, CallEnd::Failed(Cause::Lock(&nested))), None);
        assert_eq!(kind(&went_on, CallEnd::Failed(Cause::Unknown)), None);
    }

    #[test]
    fn call_that_skipped_has_not_led() {
        let skipped = observed(&[("a", Some(Busy))]);
        assert_eq!(kind(&skipped, CallEnd::Returned), Some(Busy));
        let led = observed(&[("a", None), ("b", Some(Busy))]);
        assert_eq!(kind(&led, CallEnd::Returned), None);
        assert_eq!(kind(&observed(&[]), CallEnd::Returned), None);
    }

    #[test]
    fn grants_of_the_first_lock_alone_are_reported_and_each_once() {
        let mut observed = observed(&[("a", None), ("b", None), ("a", None)]);
        assert_eq!(observed.led(), [LockKey::from("a")]);
        assert_eq!(observed.take_granted(), ["a", "a"].map(LockKey::from));
        assert!(observed.take_granted().is_empty());
    }
}
