//! Two things that are timed side by side.

use std::time::{Duration, Instant};

use crate::contestants::Contestant;
use crate::stats::{Times, median, ratio};

/// Something that is done again and again, and timed each time.
pub(crate) trait Work: Send + Sync + 'static {
    fn once(&self) -> impl Future<Output = ()> + Send;
}

/// Taking a lock that nobody else wants, and giving it back.
pub(crate) struct Cycle<C>(pub(crate) C, pub(crate) &'static str);

impl<C: Contestant> Work for Cycle<C> {
    async fn once(&self) {
        let held = self.0.acquire(self.1).await;
        self.0.release(held).await;
    }
}

/// How long both take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) ours: Duration,
    pub(crate) floor: Duration,
    /// The median of the rounds' ratios, each of two medians.
    pub(crate) ratio: f64,
}

/// How much of the one is done before the other has its turn, so that both see the same weather.
const SLICE: usize = 100;

/// Times both, in slices by turns.
pub(crate) async fn pair(rounds: usize, times: usize, ours: impl Work, floor: impl Work) -> Pair {
    // What is only done once, such as loading a script.
    for _ in 0..SLICE {
        ours.once().await;
        floor.once().await;
    }
    let mut medians = Vec::new();
    for _ in 0..rounds {
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

async fn repeat(work: &impl Work, times: usize, into: &mut Vec<Duration>) {
    for _ in 0..times {
        let start = Instant::now();
        work.once().await;
        into.push(start.elapsed());
    }
}
