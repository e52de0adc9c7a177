//! When a future is dropped.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use harness::ms;
use tokio::sync::oneshot;

/// When a future is dropped, unless it has ended by then.
#[derive(Debug, Clone)]
pub(crate) enum Moment {
    /// After this many polls: the future is polled whenever it is woken, and every millisecond.
    Polls(usize),
    /// When the future is woken after this many polls, while the value that woke it is on its way.
    Woken(usize),
    /// After this time.
    After(Duration, Arc<Alarm>),
    /// Never.
    Never,
}

impl Moment {
    /// Drives `future` and drops it; returns its output if it ends first.
    pub(crate) async fn cut<F: Future>(self, future: F) -> Option<F::Output> {
        match self {
            Moment::Polls(polls) => after_polls(future, polls).await,
            Moment::Woken(polls) => when_woken(future, polls).await,
            Moment::After(time, alarm) => {
                let ring = alarm.set(Instant::now() + time);
                tokio::select! {
                    biased;
                    _ = ring => None,
                    output = future => Some(output),
                }
            }
            Moment::Never => Some(future.await),
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

/// A timer with microsecond resolution, as far as the machine allows: the runtime's timers count
/// milliseconds.
#[derive(Debug)]
pub(crate) struct Alarm(mpsc::Sender<(Instant, oneshot::Sender<()>)>);

impl Alarm {
    pub(crate) fn new() -> Alarm {
        let (sender, orders) = mpsc::channel::<(Instant, oneshot::Sender<()>)>();
        thread::spawn(move || {
            let mut due = BinaryHeap::new();
            let mut rings = HashMap::new();
            for number in 0_u64.. {
                let next = due.peek().map(|Reverse((time, _))| *time);
                let patience = next.map_or(Duration::MAX, |time: Instant| {
                    time.saturating_duration_since(Instant::now())
                });
                match orders.recv_timeout(patience) {
                    Ok((time, ring)) => {
                        due.push(Reverse((time, number)));
                        rings.insert(number, ring);
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        let Reverse((_, number)) = due.pop().expect("a timeout implies an order");
                        // The future may have ended, and then the receiver is gone.
                        let _ = rings.remove(&number).expect("it rings once").send(());
                    }
                }
            }
        });
        Alarm(sender)
    }

    fn set(&self, time: Instant) -> oneshot::Receiver<()> {
        let (ring, rung) = oneshot::channel();
        self.0.send((time, ring)).expect("the thread does not end");
        rung
    }
}
