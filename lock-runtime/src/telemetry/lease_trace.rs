//! The common data of a lease's reports: its labels, and the span of its events.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::Span;
use tracing::field::Empty;

use super::emit::{mark_as_error, millis, number, report_and_end, safely, span};
use super::metrics;
use crate::background::moment::Moment;
use crate::background::sync::Mutex;

/// The names of a call in reports, which its lease shares.
#[derive(Clone, Debug)]
pub(crate) struct CallLabels {
    /// Empty if the lock is taken without the attribute.
    pub(crate) function: &'static str,
    pub(crate) template: &'static str,
    /// The key as logs show it; `None` unless the client logs keys. Never in metrics.
    /// A thin pointer, since every lease has it.
    pub(crate) key: Option<Arc<String>>,
    /// The place in the program that takes the lock.
    pub(crate) place: &'static Location<'static>,
}

impl CallLabels {
    /// Returns the function; `None` if the lock is taken without the attribute.
    pub(crate) fn function(&self) -> Option<&'static str> {
        Some(self.function).filter(|name| !name.is_empty())
    }

    /// Returns the labels of a call at the caller's place, whose key is not logged.
    #[track_caller]
    pub(crate) fn new(function: &'static str, template: &'static str) -> CallLabels {
        CallLabels {
            function,
            template,
            key: None,
            place: Location::caller(),
        }
    }

    /// Returns the key, for a field that is absent without a key.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.as_str())
    }
}

/// The labels of a lease, and the span of its events.
///
/// The span is stored here, not entered around a body, so that the background thread finds it too: none of the caller's
/// spans is current there. The span is removed when the lease ends, since parts of a lease outlive it until its release
/// is answered, and would keep the span open.
#[derive(Debug)]
pub(crate) struct LeaseTrace {
    pub(crate) labels: CallLabels,
    /// Zero before a token is minted.
    token: AtomicU64,
    /// Boxed, since most programs have no subscriber for it.
    pub(super) span: Mutex<Option<Box<Span>>>,
}

impl LeaseTrace {
    pub(crate) fn new(labels: CallLabels, token: Option<u64>) -> LeaseTrace {
        LeaseTrace {
            labels,
            token: AtomicU64::new(token.unwrap_or(0)),
            span: Mutex::default(),
        }
    }

    /// Returns the holder's token, once it has one.
    pub(crate) fn token(&self) -> Option<u64> {
        Some(self.token.load(Ordering::Acquire)).filter(|&token| token > 0)
    }

    /// Returns the same for a field, which is absent without a token.
    pub(super) fn token_field(&self) -> Option<i64> {
        self.token().map(number)
    }

    /// Records the holder's new token, also in the span.
    pub(crate) fn minted(&self, token: u64) {
        self.token.store(token, Ordering::Release);
        report_and_end(self.span(), |span| {
            span.record("token", number(token));
        });
    }

    /// Reports something inside the span, if there is one.
    pub(super) fn scope(&self, report: impl FnOnce()) {
        report_and_end(self.span(), |span| span.in_scope(|| safely(report)));
    }

    /// Returns the span, if there is one.
    fn span(&self) -> Span {
        // A subscriber makes the clone, and may panic too.
        span(|| {
            self.span
                .lock()
                .as_deref()
                .cloned()
                .unwrap_or_else(Span::none)
        })
    }
}

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

    /// Reports that the lease ended at `ended` with this outcome.
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

    /// Reports that the last guard of the lease was dropped. `end` returns the outcome and the time, and is only called
    /// if there is a subscriber or recorder for them.
    pub(crate) fn dropped(self, trace: &LeaseTrace, end: impl FnOnce() -> (&'static str, Moment)) {
        if metrics::ENABLED || trace.span.lock().is_some() {
            let (outcome, ended) = end();
            self.end(trace, outcome, ended);
        }
    }
}
