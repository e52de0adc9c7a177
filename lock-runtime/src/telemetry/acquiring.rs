//! One outermost acquisition, from the call to its outcome.

use std::mem;
use std::time::Duration;

use tracing::Span;
use tracing::field::Empty;

use super::emit::{millis, number, report_and_end, safely, span};
use super::lease_trace::LeaseTrace;
use super::metrics;
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::error::{LockError, LockErrorKind};

/// A call that acquires a lock. It has exactly one outcome, which is `dropped` if the call is dropped
/// without another.
#[derive(Debug)]
pub(crate) struct Acquiring {
    function: &'static str,
    template: &'static str,
    clock: Clock,
    started: Moment,
    span: Span,
    is_reported: bool,
}

impl Acquiring {
    pub(crate) fn begin(
        function: &'static str,
        template: &'static str,
        mode: impl FnOnce() -> &'static str,
        clock: Clock,
    ) -> Acquiring {
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
                    mode = mode(),
                    outcome = Empty,
                    waited_ms = Empty,
                )
            }),
            is_reported: false,
        }
    }

    /// The time, by the clock of the call.
    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// How long the call has waited at `now`.
    pub(crate) fn waited(&self, now: Moment) -> Duration {
        now.since(self.started)
    }

    /// The lock was acquired.
    pub(crate) fn granted(mut self, lease: &LeaseTrace, waited: Duration) {
        self.report("acquired", waited, || {
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
        self.report(outcome(error.kind()), waited, || {
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

    /// Reports the outcome, and `more` inside the span, which then ends.
    fn report(&mut self, outcome: &'static str, waited: Duration, more: impl FnOnce()) {
        self.is_reported = true;
        safely(|| metrics::waiters(self.template, -1.0));
        safely(|| metrics::acquisition(self.template, outcome, waited));
        let span = mem::replace(&mut self.span, Span::none());
        report_and_end(span, |span| {
            span.record("outcome", outcome);
            span.record("waited_ms", millis(waited));
            span.in_scope(|| safely(more));
        });
    }
}

impl Drop for Acquiring {
    fn drop(&mut self) {
        if !self.is_reported && (metrics::ENABLED || !self.span.is_disabled()) {
            self.report("dropped", self.waited(self.now()), || {});
        }
    }
}

/// The outcome of a call that failed. These words are public.
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
