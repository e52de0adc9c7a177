//! The labels of a lease, and the span that its events are in.

use tracing::Span;

use super::call_labels::CallLabels;
use super::emit::{report_and_end, safely, span};
use crate::background::sync::Mutex;

/// The labels of a lease, and the span that its events are in.
///
/// The span is kept here, and not entered around a body, so that the background thread finds it too: none
/// of the caller's spans is current there. The span is taken out when the lease ends. Parts of a lease live
/// on while its release is unanswered, and would keep the span open.
#[derive(Debug)]
pub(crate) struct LeaseTrace {
    pub(crate) labels: CallLabels,
    pub(crate) token: u64,
    /// Boxed, since most programs have no subscriber for it.
    pub(super) span: Mutex<Option<Box<Span>>>,
}

impl LeaseTrace {
    pub(crate) fn new(labels: CallLabels, token: u64) -> LeaseTrace {
        LeaseTrace {
            labels,
            token,
            span: Mutex::default(),
        }
    }

    /// Reports something inside the span, if there is one.
    pub(super) fn scope(&self, report: impl FnOnce()) {
        // A subscriber makes the clone, and may panic as well.
        let span = span(|| {
            self.span
                .lock()
                .as_deref()
                .cloned()
                .unwrap_or_else(Span::none)
        });
        report_and_end(span, |span| span.in_scope(|| safely(report)));
    }
}
