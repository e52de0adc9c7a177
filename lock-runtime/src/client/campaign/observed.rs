//! What a campaign has seen of the locks of one call, and whose failure ended the call.

use crate::backend::any::AnyBackend;
use crate::error::LockError;
use crate::key::{LockKey, OneOrMore};

/// How many keys of one call are remembered: as many as it may lock together.
const MAX_LED: usize = 32;

/// What a campaign has seen of the *led* locks of one call: the locks that the call itself takes, not the locks that a
/// body under one of them takes.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// The keys of the led locks that the call has had, the latest at the end.
    led: Vec<LockKey>,
    /// The grants that are not reported yet, each by its first key.
    granted: Vec<LockKey>,
    /// The failure of a led lock, unless a grant came after it.
    failure: Option<LockError>,
    /// The store that the latest failure is from. A lost lock has none: it is stood for without a pause.
    backend: Option<AnyBackend>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallEnd<'a> {
    Returned,
    /// It failed, and this `LockError` was found in its error.
    Failed(Option<&'a LockError>),
}

impl Observed {
    /// Notes that the call has a lock with these keys.
    pub(super) fn grant(&mut self, keys: &OneOrMore<LockKey>) {
        self.led.retain(|led| !keys.contains(led.as_str()));
        self.led.extend(keys.iter().cloned());
        let old = self.led.len().saturating_sub(MAX_LED);
        self.led.drain(..old);
        self.granted.push(keys.first().clone());
        self.failure = None;
    }

    /// Notes that a lock of the call failed: it was not acquired, or was lost and the call's result is that.
    pub(super) fn fail(&mut self, error: &LockError, backend: Option<&AnyBackend>) {
        self.failure = Some(error.duplicate());
        self.backend = backend.cloned();
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
            // The error may hide its cause, as transparent variants and messages do.
            CallEnd::Failed(None) => self.failure.as_ref(),
            CallEnd::Failed(Some(found)) => self.is_led(found).then_some(found),
        }
    }

    /// Returns whether an error is about a led lock. A guard reports a loss itself, before its lock is released.
    fn is_led(&self, found: &LockError) -> bool {
        let is_failure = self
            .failure
            .as_ref()
            .is_some_and(|failure| (failure.kind(), failure.key()) == (found.kind(), found.key()));
        let is_of_led = |key: &str| self.led.iter().any(|led| led.as_str() == key);
        is_failure || found.is_lost() && found.key().is_some_and(is_of_led)
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
                kind(&observed, CallEnd::Failed(Some(&found))),
                Some(failure)
            );
            // Of an error that hides its cause, the lock's failure is the last that is known.
            assert_eq!(kind(&observed, CallEnd::Failed(None)), Some(failure));
        }
    }

    #[test]
    fn failure_of_a_nested_lock_is_the_bodys() {
        let leading = observed(&[("a", None)]);
        for failure in [Busy, Lost, Unavailable] {
            let nested = error(failure, "b");
            assert_eq!(kind(&leading, CallEnd::Failed(Some(&nested))), None);
        }
        let sibling = error(Busy, "a");
        assert_eq!(kind(&leading, CallEnd::Failed(Some(&sibling))), None);
        assert_eq!(
            kind(&leading, CallEnd::Failed(None)),
            None,
            "no lock at all"
        );
    }

    #[test]
    fn loss_of_a_lock_that_was_held_is_the_led_locks() {
        let lost = error(Lost, "a");
        let end = CallEnd::Failed(Some(&lost));
        let by_hand = observed(&[("a", None)]);
        assert_eq!(kind(&by_hand, end), Some(Lost));
        let released = observed(&[("a", None), ("a", Some(Lost))]);
        assert_eq!(kind(&released, end), Some(Lost));
        assert_eq!(kind(&released, CallEnd::Failed(None)), Some(Lost));
        let one_of_two = observed(&[("a", None), ("b", None)]);
        assert_eq!(kind(&one_of_two, end), Some(Lost));
    }

    #[test]
    fn earlier_failure_of_a_call_that_went_on_does_not_count() {
        let went_on = observed(&[("b", Some(Busy)), ("a", None)]);
        let nested = error(Busy, "b");
        assert_eq!(kind(&went_on, CallEnd::Failed(Some(&nested))), None);
        assert_eq!(kind(&went_on, CallEnd::Failed(None)), None);
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
    fn number_of_remembered_keys_is_bounded_and_each_grant_is_reported_once() {
        let keys: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let grants: Vec<_> = keys.iter().map(|key| (key.as_str(), None)).collect();
        let mut observed = observed(&grants);
        assert_eq!(observed.led().len(), MAX_LED);
        assert_eq!(observed.led().last().map(LockKey::as_str), Some("99"));
        assert_eq!(observed.take_granted().len(), 100);
        assert!(observed.take_granted().is_empty());
        observed.grant(&LockKey::from("99").into());
        assert_eq!(observed.led().len(), MAX_LED, "it is there already");
    }
}
