//! Futures that carry the call tree of their creator.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::current::{current, entered};
use super::scope::Scope;
use crate::lease::LeaseRef;

pin_project! {
    /// A future that carries the call tree of its creator; see [`in_current_hold`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct InCurrentHold<F> {
        #[pin]
        future: Option<F>,
        scope: Option<Arc<Scope>>,
        references: Vec<LeaseRef>,
    }

    impl<F> PinnedDrop for InCurrentHold<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _entered = entered(this.scope.clone());
            // Drops the future inside its call tree, so that its destructors enter the locks instead of waiting for
            // them.
            this.future.set(None);
        }
    }
}

impl<F: Future> Future for InCurrentHold<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _entered = entered(this.scope.clone());
        let future = this.future.as_pin_mut();
        let output = future
            .expect("the future is there until this is dropped")
            .poll(cx);
        if output.is_ready() {
            // A future may be kept after it has ended, but its leases must not be.
            *this.scope = None;
            this.references.clear();
        }
        output
    }
}

/// Carries the current call tree into `future`, so that you can spawn it.
///
/// A spawned task starts its own call tree: a locked function that it calls queues behind the function that spawned it.
/// Wrapped in this, the task is part of the caller's tree and enters the locks that the caller holds, similar to
/// tracing's `.in_current_span()`.
///
/// The future shares every hold of its tree. A lock is released when the last body, guard and carried future that share
/// it have ended, so a future that outlives its caller keeps the lock. When a hold is lost, the carried future keeps
/// running, and its calls under that lock fail with `Lost`.
///
/// # Cancel safety
///
/// Dropping the returned future drops `future` and its share of the holds.
///
/// # Examples
///
/// ```
/// use lock_runtime::{LockClient, in_current_hold};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), lock_runtime::LockError> {
/// let client = LockClient::memory();
/// let audit = client.clone();
/// client.lock("order:42").run(async |_guard| {
///     let task = tokio::spawn(in_current_hold(async move {
///         audit.lock("order:42").run(async |guard| guard.hold_count()).await
///     }));
///     assert!(task.await.unwrap().is_ok());
/// }).await?;
/// # Ok(()) }
/// ```
pub fn in_current_hold<F: Future>(future: F) -> InCurrentHold<F> {
    let scope = current().as_ref().map(Scope::uncancelled);
    let references = scope.iter().flat_map(|scope| scope.references()).collect();
    InCurrentHold {
        future: Some(future),
        scope,
        references,
    }
}
