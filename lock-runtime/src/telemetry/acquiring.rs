//! One outermost acquisition, from the call until the lock is had or is not.

use std::mem;
use std::time::Duration;

use tracing::Span;
use tracing::field::Empty;

use super::{last_of, metrics, millis, number, safely, span};
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::error::{LockError, LockErrorKind};
use crate::lease::Lease;

/// A call that wants a lock. It has exactly one outcome: dropped without another, it is told as
/// `dropped`.
#[derive(Debug)]
pub(crate) struct Acquiring {
    function: &'static str,
    template: &'static str,
    clock: Clock,
    started: Moment,
    span: Span,
    told: bool,
}

impl Acquiring {
    pub(crate) fn begin(function: &'static str, template: &'static str, clock: Clock) -> Acquiring {
        safely(|| metrics::waiters(template, 1.0));
        Acquiring {
            function,
            template,
            clock,
            started: clock.now(),
            span: span(|| {
                tracing::info_span!(
                    target: "lock_runtime",
                    "lock_acquire",
                    template,
                    function,
                    outcome = Empty,
                    waited_ms = Empty,
                )
            }),
            told: false,
        }
    }

    /// By the clock that the call goes by.
    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// How long the call has waited at `now`.
    pub(crate) fn waited(&self, now: Moment) -> Duration {
        now.since(self.started)
    }

    /// The lock was acquired.
    pub(crate) fn granted(mut self, lease: &Lease, waited: Duration) {
        self.tell("acquired", waited, || {
            tracing::debug!(
                target: "lock_runtime",
                template = lease.template,
                function = lease.function,
                token = number(lease.token),
                waited_ms = millis(waited),
                "lock_acquired"
            );
        });
    }

    /// The lock was not acquired.
    pub(crate) fn refused(mut self, error: &LockError, waited: Duration) {
        let (template, function) = (self.template, self.function);
        self.tell(outcome(error.kind()), waited, || {
            tracing::debug!(
                target: "lock_runtime",
                template,
                function,
                kind = ?error.kind(),
                holder = error.holder(),
                waited_ms = millis(waited),
                "lock_not_acquired"
            );
        });
    }

    /// Tells the outcome, and `more` in the span, which then ends.
    fn tell(&mut self, outcome: &'static str, waited: Duration, more: impl FnOnce()) {
        self.told = true;
        safely(|| metrics::waiters(self.template, -1.0));
        safely(|| metrics::acquisition(self.template, outcome, waited));
        let span = mem::replace(&mut self.span, Span::none());
        last_of(span, |span| {
            span.record("outcome", outcome);
            span.record("waited_ms", millis(waited));
            span.in_scope(|| safely(more));
        });
    }
}

impl Drop for Acquiring {
    fn drop(&mut self) {
        if !self.told && (metrics::ENABLED || !self.span.is_disabled()) {
            self.tell("dropped", self.waited(self.now()), || {});
        }
    }
}

/// What became of a call that failed, in a word that never changes.
fn outcome(kind: LockErrorKind) -> &'static str {
    match kind {
        LockErrorKind::Busy => "busy",
        LockErrorKind::Lost => "lost",
        LockErrorKind::Unavailable => "unavailable",
        LockErrorKind::Rejected => "rejected",
        LockErrorKind::Reentered => "reentered",
        LockErrorKind::InvalidKey => "invalid_key",
        LockErrorKind::InvalidOptions => "invalid_options",
        LockErrorKind::NotInstalled => "not_installed",
        LockErrorKind::AlreadyInstalled => "already_installed",
        LockErrorKind::Shutdown => "shutdown",
    }
}
