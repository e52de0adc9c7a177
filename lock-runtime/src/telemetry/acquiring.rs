//! One outermost acquisition, from the call to its outcome.

use std::mem;
use std::time::Duration;

use tracing::Span;
use tracing::field::Empty;

use super::emit::{mark_as_error, millis, report_and_end, safely, span};
use super::lease_trace::CallLabels;
use super::lease_trace::LeaseTrace;
use super::metrics;
use crate::background::clock::Clock;
use crate::background::moment::Moment;
use crate::error::LockError;

/// A call that acquires a lock. It has exactly one outcome: `dropped` if the call is dropped before any other.
#[derive(Debug)]
pub(crate) struct Acquiring {
    labels: CallLabels,
    clock: Clock,
    started: Moment,
    span: Span,
    is_reported: bool,
}

impl Acquiring {
    pub(crate) fn begin(
        labels: CallLabels,
        mode: impl FnOnce() -> &'static str,
        clock: Clock,
    ) -> Acquiring {
        safely(|| metrics::waiters(labels.template, 1.0));
        Acquiring {
            clock,
            started: clock.now(),
            span: span(|| {
                tracing::info_span!(
                    target: "lock_runtime",
                    "lock_acquire",
                    template = labels.template,
                    function = labels.function,
                    key = labels.key(),
                    mode = mode(),
                    outcome = Empty,
                    waited_ms = Empty,
                    otel.status_code = Empty,
                )
            }),
            labels,
            is_reported: false,
        }
    }

    /// Returns the time by the clock of the call.
    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// Returns how long the call has waited at `now`.
    pub(crate) fn waited(&self, now: Moment) -> Duration {
        now.since(self.started)
    }

    /// Reports that the lock was acquired.
    pub(crate) fn granted(mut self, lease: &LeaseTrace, waited: Duration) {
        self.report("acquired", waited, |_| {
            let labels = &lease.labels;
            tracing::debug!(
                target: "lock_runtime",
                template = labels.template,
                function = labels.function,
                key = labels.key(),
                token = lease.token_field(),
                waited_ms = millis(waited),
                "lock_acquired"
            );
        });
    }

    /// Reports that the lock was not acquired.
    pub(crate) fn refused(mut self, error: &LockError, waited: Duration) {
        self.report(error.kind().as_str(), waited, |labels| {
            tracing::debug!(
                target: "lock_runtime",
                template = labels.template,
                function = labels.function,
                key = labels.key(),
                kind = ?error.kind(),
                holder = error.holder(),
                waited_ms = millis(waited),
                "lock_not_acquired"
            );
        });
    }

    /// Reports the outcome, and `more` inside the span, which then ends.
    fn report(&mut self, outcome: &'static str, waited: Duration, more: impl FnOnce(&CallLabels)) {
        self.is_reported = true;
        let labels = &self.labels;
        safely(|| metrics::waiters(labels.template, -1.0));
        safely(|| metrics::acquisition(labels.template, outcome, waited));
        let span = mem::replace(&mut self.span, Span::none());
        report_and_end(span, |span| {
            span.record("outcome", outcome);
            span.record("waited_ms", millis(waited));
            if !NO_ERRORS.contains(&outcome) {
                mark_as_error(span);
            }
            span.in_scope(|| safely(|| more(labels)));
        });
    }
}

impl Drop for Acquiring {
    fn drop(&mut self) {
        if !self.is_reported && (metrics::ENABLED || !self.span.is_disabled()) {
            self.report("dropped", self.waited(self.now()), |_| {});
        }
    }
}

/// The outcomes that are not errors in a trace: contention is what a lock is for, and a shutdown or a departed caller
/// is intended.
const NO_ERRORS: [&str; 4] = ["acquired", "busy", "dropped", "shutdown"];
