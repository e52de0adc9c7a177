//! When a future is dropped.

use std::future::{Future, poll_fn};
use std::task::Poll;

use harness::ms;

/// When a future is dropped, unless it has ended by then.
#[derive(Debug, Clone)]
pub(crate) enum Moment {
    /// After this many polls: the future is polled whenever it is woken, and every millisecond.
    Polls(usize),
    /// When the future is woken after this many polls, while the value that woke it is on its way.
    Woken(usize),
}

impl Moment {
    /// Drives `future` and drops it; returns its output if it ends first.
    pub(crate) async fn cut<F: Future>(self, future: F) -> Option<F::Output> {
        match self {
            Moment::Polls(polls) => after_polls(future, polls).await,
            Moment::Woken(polls) => when_woken(future, polls).await,
        }
    }
}

async fn after_polls<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = Box::pin(future);
    for _ in 0..polls {
        let mut polled = false;
        let once = poll_fn(|context| {
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(None);
            }
            future.as_mut().poll(context).map(Some)
        });
        if let Ok(Some(output)) = tokio::time::timeout(ms(1), once).await {
            return Some(output);
        }
    }
    None
}

async fn when_woken<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = Box::pin(future);
    let mut polled = 0;
    poll_fn(|context| {
        if polled == polls {
            return Poll::Ready(None);
        }
        polled += 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}
