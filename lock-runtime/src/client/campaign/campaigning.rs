//! Drives a campaign: calls its function, judges each end, and pauses.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;

use super::lock_error_of::LockErrorOf;
use super::observed::{CallEnd, Observed};
use super::observer;
use super::pacing::Pacing;
use super::standing::Standing;
use crate::backend::caller::Caller;
use crate::backend::held_lease::{HeldLease, keep_dropped};
use crate::background::random;
use crate::error::LockErrorKind;

pin_project! {
    /// The future of a [`Campaign`](crate::Campaign).
    #[must_use = "futures do nothing unless polled"]
    pub struct Campaigning<F, Fut, U, C, L> {
        lead: F,
        #[pin]
        until: U,
        on_change: C,
        lock_error: L,
        #[pin]
        call: Option<Fut>,
        step: Step,
        observed: Option<Box<Observed>>,
        pacing: Pacing,
        // The reason that was reported last, unless the campaign has led since.
        reported: Option<LockErrorKind>,
    }
}

/// What the campaign waits for.
enum Step {
    Beginning,
    Calling,
    /// The campaign is stopped, and the call is about to end: it releases its lock.
    Finishing,
    /// The next call is due when this is over.
    Pausing(Boxed),
    /// The campaign is stopped, and the lock is released.
    Releasing(Boxed),
    Over,
}

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

impl<F, Fut, U, C, L> Campaigning<F, Fut, U, C, L> {
    pub(super) fn new(lead: F, until: U, on_change: C, lock_error: L) -> Self {
        Campaigning {
            lead,
            until,
            on_change,
            lock_error,
            call: None,
            step: Step::Beginning,
            observed: None,
            pacing: Pacing::default(),
            reported: None,
        }
    }
}

impl<F, Fut, T, E, U, C, L> Future for Campaigning<F, Fut, U, C, L>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
    U: Future,
    C: FnMut(Standing<'_>),
    L: LockErrorOf<E>,
{
    type Output = Result<Option<T>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Step::Beginning | Step::Calling | Step::Pausing(_) = this.step
            && this.until.poll(cx).is_ready()
        {
            let observed = this.observed.as_deref();
            *this.step = if observed.is_some_and(Observed::is_releasing) {
                Step::Finishing
            } else {
                let led = observed.map_or_else(Vec::new, |observed| observed.led().into());
                let left = keep_dropped(led, || this.call.set(None));
                Step::Releasing(Box::pin(release(left)))
            };
        }
        loop {
            match this.step {
                Step::Beginning => {
                    (this.on_change)(Standing::Candidate);
                    *this.observed = Some(Box::default());
                    this.call.set(Some((this.lead)()));
                    *this.step = Step::Calling;
                }
                Step::Calling | Step::Finishing => {
                    let is_stopped = matches!(this.step, Step::Finishing);
                    let call = this.call.as_mut().as_pin_mut().expect("it is being made");
                    let polled = observer::observe(this.observed, || call.poll(cx));
                    let observed = this.observed.as_mut().expect("it is back");
                    for key in observed.take_granted() {
                        this.pacing.led();
                        *this.reported = None;
                        (this.on_change)(Standing::Leader { key: key.as_str() });
                    }
                    let result = match polled {
                        Poll::Ready(result) => result,
                        // The function goes on after its lock.
                        Poll::Pending if is_stopped && !observed.is_releasing() => {
                            this.call.set(None);
                            *this.step = Step::Over;
                            return Poll::Ready(Ok(None));
                        }
                        Poll::Pending => return Poll::Pending,
                    };
                    this.call.set(None);
                    let end = match &result {
                        Ok(_) => CallEnd::Returned,
                        Err(error) => CallEnd::Failed(this.lock_error.cause_of(error)),
                    };
                    let again = observed.failure(end).and_then(|why| {
                        let stood = why.waited().unwrap_or_default();
                        let pause = this.pacing.pause(why.kind(), stood, random::jitter())?;
                        Some((why, pause))
                    });
                    let Some((why, pause)) = again else {
                        *this.step = Step::Over;
                        return Poll::Ready(result.map(Some));
                    };
                    if is_stopped {
                        *this.step = Step::Over;
                        return Poll::Ready(Ok(None));
                    }
                    if this.reported.replace(why.kind()) != Some(why.kind()) {
                        (this.on_change)(Standing::Again { why });
                    }
                    *this.step = Step::Pausing(pausing(observed, pause));
                }
                Step::Pausing(pause) => {
                    ready!(pause.as_mut().poll(cx));
                    *this.observed = Some(Box::default());
                    this.call.set(Some((this.lead)()));
                    *this.step = Step::Calling;
                }
                Step::Releasing(released) => {
                    ready!(released.as_mut().poll(cx));
                    *this.step = Step::Over;
                    return Poll::Ready(Ok(None));
                }
                Step::Over => panic!("a campaign is not polled after it has ended"),
            }
        }
    }
}

/// Returns the pause before the next call, by the clock of the store whose lock failed.
fn pausing(observed: &Observed, pause: Duration) -> Boxed {
    match observed.backend().cloned() {
        Some(backend) if !pause.is_zero() => Box::pin(async move { backend.sleep(pause).await }),
        // The task's other work comes first: a call may fail without having waited for anything.
        _ => Box::pin(tokio::task::yield_now()),
    }
}

/// Releases the lock that a stopped call had, so that the next leader has it when the campaign is over.
async fn release(left: Vec<HeldLease>) {
    for lease in left {
        let now = lease.now();
        // The campaign was stopped: whether the lock was lost a moment before makes no difference.
        let _ = lease.release(Caller::Task, now).await;
    }
}

impl<F, Fut, U, C, L> fmt::Debug for Campaigning<F, Fut, U, C, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = match self.step {
            Step::Beginning => "Beginning",
            Step::Calling => "Calling",
            Step::Finishing => "Finishing",
            Step::Pausing(_) => "Pausing",
            Step::Releasing(_) => "Releasing",
            Step::Over => "Over",
        };
        f.debug_struct("Campaigning")
            .field("step", &step)
            .finish_non_exhaustive()
    }
}
