//! Calls subscribers and recorders, which may panic.
//!
//! If one of them panics, it misses the report; the reported work, such as the renewal of other locks, goes on.

use std::time::Duration;

use tracing::Span;

use crate::background::panics::catch_panics;

// Numbers are reported as `i64`, the only integer of OpenTelemetry: its layer for tracing converts other integers to
// text, which cannot be queried for a range.

pub(super) fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn safely(report: impl FnOnce()) {
    catch_panics(report);
}

/// Creates a span, or none if a subscriber panics.
pub(super) fn span(make: impl FnOnce() -> Span) -> Span {
    catch_panics(make).unwrap_or_else(Span::none)
}

/// Sets a span's status to error, in the field that OpenTelemetry's layer for tracing reads.
pub(super) fn mark_as_error(span: &Span) {
    span.record("otel.status_code", "ERROR");
}

/// Reports something in a span, and then ends the span.
///
/// The two are shielded separately. A subscriber that panics at the report may panic again when the span
/// ends, and a panic during another one ends the process. For the same reason a report inside a span is
/// shielded by itself: leaving the span calls the subscriber again.
pub(super) fn report_and_end(span: Span, report: impl FnOnce(&Span)) {
    safely(|| report(&span));
    safely(|| drop(span));
}
