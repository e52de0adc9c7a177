//! The task or thread that waits for a call.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::task::coop::unconstrained;

use crate::backend::redis::block_on;

/// The task or thread that waits for a call. Both take the same path to a lock and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A task, which is polled again.
    Task,
    /// A thread, inside or outside a runtime. It blocks wherever a task would wait, so its call ends in the first poll.
    Thread,
}

impl Caller {
    /// Begins work that may send commands at once. A thread sends them itself, and reads the answers while it blocks.
    pub(crate) fn begin<T>(self, begin: impl FnOnce() -> T) -> T {
        match self {
            Caller::Task => begin(),
            Caller::Thread => block_on(async { begin() }),
        }
    }

    /// Waits for `work`. A thread blocks here and nowhere else, so that tracing subscribers run outside
    /// [`block_on`].
    pub(crate) fn wait<F>(self, work: F) -> Waiting<F> {
        Waiting { caller: self, work }
    }
}

pin_project_lite::pin_project! {
    /// The future of [`Caller::wait`]. Written by hand, since an async function would have room for `work` twice.
    #[must_use = "futures do nothing unless polled"]
    pub(crate) struct Waiting<F> {
        caller: Caller,
        #[pin]
        work: F,
    }
}

impl<F: Future> Future for Waiting<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        match this.caller {
            Caller::Task => this.work.poll(cx),
            Caller::Thread => Poll::Ready(block_on(this.work)),
        }
    }
}

/// Runs the call of a [`Caller::Thread`]. It ignores tokio's coop budget: this thread may be running a task, and a
/// spent budget would end the poll early.
pub(crate) fn on_this_thread<F: Future>(call: F) -> F::Output {
    let mut call = pin!(call);
    // By reference, since moving a call is expensive.
    let call = pin!(unconstrained(call.as_mut()));
    match call.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a thread blocks wherever a task would wait"),
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::coop::consume_budget;

    use super::*;
    use crate::client::LockClient;

    /// A nested call waits in a `select!`, which stays pending in a task without budget.
    #[tokio::test]
    async fn call_of_a_thread_ends_in_a_task_whose_budget_is_used_up() {
        let client = LockClient::memory();
        let lock = client.lock("order:42");
        let nested = lock.clone();
        let inside = lock.run_blocking(|_| {
            let cx = &mut Context::from_waker(Waker::noop());
            while pin!(consume_budget()).poll(cx).is_ready() {}
            nested.run_blocking(|guard| guard.hold_count())
        });
        assert_eq!(inside.unwrap().unwrap(), 2);
    }
}
