//! What is told to `tracing` and to `metrics`, all in one place.
//!
//! Everything names the key's *template*, never the key: logs and metrics stay few, and a key may
//! hold what is nobody's business. Owners and passwords never get here. The names are public:
//! `docs/observability.md` has them all.

mod acquiring;
mod events;
mod holding;
mod metrics;

pub(crate) use acquiring::Acquiring;
#[cfg(feature = "tls")]
pub(crate) use events::certificates_not_renewed;
pub(crate) use events::{
    connection_dropped, connection_failed, connection_in_the_clear, finished_without_lock,
    hold_outlives_body, locks_may_be_evicted, lost, release_unconfirmed, renewal_failed,
    renewal_overdue, renewed,
};
pub(crate) use holding::{Holding, Trace};
pub(crate) use metrics::describe;

use std::time::Duration;

use tracing::Span;

use crate::background::panics::catch_panics;
use crate::lease::fencing_token::FencingToken;

// Numbers are told as `i64`, which is all that OpenTelemetry knows: its layer for tracing makes text of
// other integers, and nobody can ask for a range of those.

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

fn number(token: FencingToken) -> i64 {
    i64::try_from(token.get()).unwrap_or(i64::MAX)
}

/// Tells somebody else's code something. If that panics, it is not told; what is told of here, the
/// renewal of other locks for one, goes on.
fn safely(tell: impl FnOnce()) {
    catch_panics(tell);
}

/// Tells something of a span, which then ends as far as we are concerned. Not in one go: whoever panics
/// at the first may do so at the second, and a panic during another one ends the process. For the same
/// reason what is told inside a span is shielded by itself: to leave the span is to tell again.
fn last_of(span: Span, tell: impl FnOnce(&Span)) {
    safely(|| tell(&span));
    safely(|| drop(span));
}

/// A span, or none if whoever is told of it panics.
fn span(make: impl FnOnce() -> Span) -> Span {
    catch_panics(make).unwrap_or_else(Span::none)
}
