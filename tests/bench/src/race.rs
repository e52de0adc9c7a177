//! Tasks that compete for one lock.

use std::time::Duration;

use tokio::task::JoinSet;

use crate::clock::{instant, nanos, now, sleep_until};
use crate::contestants::Contestant;
use crate::log::{Log, Visit, Window};

/// The time for all processes to learn of a race before it begins.
const NOTICE: Duration = Duration::from_millis(30);

/// The queue forms before the measured time, in this fraction of it.
const WARM_UP: u32 = 4;

/// Tasks `first` and so on of a race, that many of them.
#[derive(Clone, Debug)]
pub(crate) struct Race {
    pub(crate) key: String,
    pub(crate) first: u32,
    pub(crate) tasks: u32,
    pub(crate) window: Window,
}

impl Window {
    /// A race that begins soon and lasts this long.
    pub(crate) fn soon(time: Duration) -> Window {
        Window::after(time / WARM_UP, time)
    }

    /// A race that begins soon and lasts this long, after a time for the queue to form.
    pub(crate) fn after(warm_up: Duration, time: Duration) -> Window {
        let begin = now() + nanos(NOTICE);
        let start = begin + nanos(warm_up);
        let end = start + nanos(time);
        Window { begin, start, end }
    }
}

/// Has the tasks take the lock in turns until the time is over. Returns their visits, and the times at
/// which the remaining waiters asked.
pub(crate) async fn race<C: Contestant>(contestant: &C, race: &Race) -> (Vec<Visit>, Vec<u64>) {
    let mut tasks = JoinSet::new();
    for task in race.first..race.first + race.tasks {
        let (contestant, key, window) = (contestant.clone(), race.key.clone(), race.window);
        tasks.spawn(async move { turns(&contestant, &key, task, window).await });
    }
    let (mut visits, mut waiting) = (Vec::new(), Vec::new());
    for (own, asked) in tasks.join_all().await {
        visits.extend(own);
        waiting.extend(asked);
    }
    (visits, waiting)
}

/// The log of a race between tasks of this process alone.
pub(crate) async fn log<C: Contestant>(
    contestant: &C,
    key: &str,
    tasks: u32,
    window: Window,
) -> Log {
    let plan = Race {
        key: key.to_owned(),
        first: 0,
        tasks,
        window,
    };
    let (visits, waiting) = race(contestant, &plan).await;
    Log::new(window, tasks, visits, waiting)
}

async fn turns<C: Contestant>(
    contestant: &C,
    key: &str,
    task: u32,
    window: Window,
) -> (Vec<Visit>, Option<u64>) {
    let (mut visits, mut waiting) = (Vec::new(), None);
    sleep_until(window.begin).await;
    let turns = async {
        loop {
            let asked = now();
            waiting = Some(asked);
            let held = contestant.acquire(key).await;
            waiting = None;
            let entered = now();
            // The body: it records its visit.
            visits.push(Visit {
                task,
                token: C::token(&held),
                asked,
                entered,
                left: now(),
            });
            contestant.release(held).await;
        }
    };
    // The time ends the task. There is one timer per task: one per turn would take a good part of a
    // local turn's time.
    let _over: Result<(), _> = tokio::time::timeout_at(instant(window.end), turns).await;
    (visits, waiting)
}
