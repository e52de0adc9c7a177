//! One lease, from its delivery to the caller until it ends.

use tracing::Span;
use tracing::field::Empty;

use super::emit::{mark_as_error, millis, report_and_end, safely, span};
use super::lease_trace::LeaseTrace;
use super::metrics;
use crate::background::moment::Moment;

/// The time for which a caller has a lease; it ends exactly once.
#[derive(Debug)]
pub(crate) struct LeaseSpan {
    since: Moment,
}

impl LeaseSpan {
    pub(crate) fn begin(trace: &LeaseTrace, since: Moment) -> LeaseSpan {
        safely(|| metrics::held(1.0));
        let span = span(|| {
            tracing::info_span!(
                target: "lock_runtime",
                "lock_hold",
                template = trace.labels.template,
                function = trace.labels.function,
                key = trace.labels.key(),
                token = trace.token_field(),
                outcome = Empty,
                held_ms = Empty,
                otel.status_code = Empty,
            )
        });
        if !span.is_disabled() {
            *trace.span.lock() = Some(Box::new(span));
        }
        LeaseSpan { since }
    }

    /// The lease ended at `ended` with this outcome.
    pub(crate) fn end(self, trace: &LeaseTrace, outcome: &'static str, ended: Moment) {
        let held = ended.since(self.since);
        safely(|| metrics::held(-1.0));
        safely(|| metrics::lease(trace.labels.template, outcome, held));
        let span: Option<Box<Span>> = trace.span.lock().take();
        if let Some(span) = span {
            report_and_end(*span, |span| {
                span.record("outcome", outcome);
                span.record("held_ms", millis(held));
                if outcome == "lost" {
                    mark_as_error(span);
                }
            });
        }
    }

    /// The last guard of the lease was dropped. `end` gives the outcome and the time, and is only called
    /// if there is a subscriber or recorder for them.
    pub(crate) fn dropped(self, trace: &LeaseTrace, end: impl FnOnce() -> (&'static str, Moment)) {
        if metrics::ENABLED || trace.span.lock().is_some() {
            let (outcome, ended) = end();
            self.end(trace, outcome, ended);
        }
    }
}
