//! The labels of a lease, and the span that its events are in.

use std::sync::atomic::{AtomicU64, Ordering};

use tracing::Span;

use super::call_labels::CallLabels;
use super::emit::{number, report_and_end, safely, span};
use crate::background::sync::Mutex;

/// The labels of a lease, and the span that its events are in.
///
/// The span is kept here, and not entered around a body, so that the background thread finds it too: none
/// of the caller's spans is current there. The span is taken out when the lease ends. Parts of a lease live
/// on while its release is unanswered, and would keep the span open.
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

    /// The holder's token, once there is one.
    pub(crate) fn token(&self) -> Option<u64> {
        Some(self.token.load(Ordering::Acquire)).filter(|&token| token > 0)
    }

    /// The same for a field, which is left out without one.
    pub(super) fn token_field(&self) -> Option<i64> {
        self.token().map(number)
    }

    /// The holder has this token from now on, and so has the span.
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

    /// The span, if there is one.
    fn span(&self) -> Span {
        // A subscriber makes the clone, and may panic as well.
        span(|| {
            self.span
                .lock()
                .as_deref()
                .cloned()
                .unwrap_or_else(Span::none)
        })
    }
}
