//! One hold, from its hand-over until it is given back.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tracing::Span;
use tracing::field::Empty;

use super::{last_of, metrics, millis, number, safely, span};
use crate::background::moment::Moment;
use crate::lease::Lease;

/// The span of a hold, where everybody who has something to tell of it finds it: the keeper for
/// one, in whose thread no span of the caller's is current.
///
/// It is taken out when the hold ends. Parts of the hold may live on for as long as its release is
/// not answered, and would keep the span open.
/// Boxed, since hardly anybody listens.
#[derive(Debug, Default)]
pub(crate) struct Trace(Mutex<Option<Box<Span>>>);

impl Trace {
    /// Tells something inside the span, if there is one.
    pub(crate) fn scope(&self, tell: impl FnOnce()) {
        // Somebody else's code makes the clone, too.
        let span = span(|| self.span().as_deref().cloned().unwrap_or_else(Span::none));
        last_of(span, |span| span.in_scope(|| safely(tell)));
    }

    fn span(&self) -> MutexGuard<'_, Option<Box<Span>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hold that a caller has. It ends exactly once.
#[derive(Debug)]
pub(crate) struct Holding {
    since: Moment,
}

impl Holding {
    pub(crate) fn begin(lease: &Lease, since: Moment) -> Holding {
        let span = span(|| {
            tracing::info_span!(
                target: "lock_runtime",
                "lock_hold",
                template = lease.template,
                function = lease.function,
                token = number(lease.token),
                outcome = Empty,
                held_ms = Empty,
            )
        });
        if !span.is_disabled() {
            *lease.trace.span() = Some(Box::new(span));
        }
        Holding { since }
    }

    /// The hold was given back, with this outcome.
    pub(crate) fn end(self, lease: &Lease, outcome: &'static str, ended: Moment) {
        let held = ended.since(self.since);
        safely(|| metrics::lease(lease.template, outcome, held));
        let span = lease.trace.span().take();
        if let Some(span) = span {
            last_of(*span, |span| {
                span.record("outcome", outcome);
                span.record("held_ms", millis(held));
            });
        }
    }

    /// The last guard of the hold was dropped.
    pub(crate) fn dropped(self, lease: &Lease) {
        if metrics::ENABLED || lease.trace.span().is_some() {
            let outcome = lease.loss().map_or("dropped", |_| "lost");
            self.end(lease, outcome, lease.now());
        }
    }
}
