//! Two operations that are timed alternately.

use std::time::{Duration, Instant};

use crate::contestants::Contestant;
use crate::effort::Effort;
use crate::findings::Value;
use crate::number::Short;
use crate::stats::{Times, median, ratio};

/// An operation that is repeated, and timed each time.
pub(crate) trait Work: Send + Sync + 'static {
    fn once(&self) -> impl Future<Output = ()> + Send;
}

/// Eight bytes.
pub(crate) const KEY: &str = "order:42";

/// Acquiring and releasing a free lock.
pub(crate) struct Cycle<C>(C, String);

impl<C: Contestant> Cycle<C> {
    pub(crate) fn new(contestant: C) -> Cycle<C> {
        Cycle::of(contestant, KEY)
    }

    pub(crate) fn of(contestant: C, key: impl Into<String>) -> Cycle<C> {
        Cycle(contestant, key.into())
    }
}

impl<C: Contestant> Work for Cycle<C> {
    async fn once(&self) {
        let held = self.0.acquire(&self.1).await;
        self.0.release(held).await;
    }
}

/// The times of both operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    ours: Duration,
    pub(crate) floor: Duration,
    /// The median of the rounds' ratios. Each ratio compares two medians.
    ratio: f64,
}

impl Pair {
    pub(crate) fn value(self, most: f64) -> Value {
        Value::at_most(most, self.ratio).of(Short(self.ours))
    }
}

/// The number of cycles after which the other operation has its turn: both meet the same
/// conditions.
const SLICE: usize = 100;

/// Times both operations, in alternating slices, with this many cycles per round.
pub(crate) async fn pair(effort: Effort, times: usize, ours: impl Work, floor: impl Work) -> Pair {
    // For work that is done once, such as loading a script.
    for _ in 0..SLICE {
        ours.once().await;
        floor.once().await;
    }
    let mut medians = Vec::new();
    for _ in 0..effort.rounds {
        let (mut one, mut other) = (Vec::new(), Vec::new());
        while one.len() < times {
            let slice = SLICE.min(times - one.len());
            repeat(&ours, slice, &mut one).await;
            repeat(&floor, slice, &mut other).await;
        }
        medians.push((Times::new(one).median(), Times::new(other).median()));
    }
    let all = |side: fn(&(Duration, Duration)) -> Duration| {
        Times::new(medians.iter().map(side).collect()).median()
    };
    Pair {
        ours: all(|round| round.0),
        floor: all(|round| round.1),
        ratio: median(medians.iter().map(|&(one, other)| ratio(one, other))),
    }
}

pub(crate) async fn repeat(work: &impl Work, times: usize, into: &mut Vec<Duration>) {
    for _ in 0..times {
        let start = Instant::now();
        work.once().await;
        into.push(start.elapsed());
    }
}
