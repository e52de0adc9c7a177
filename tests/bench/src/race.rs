//! Tasks that compete for one lock.

use std::time::Duration;

use tokio::task::JoinSet;

use crate::clock::{instant, nanos, now, sleep_until};
use crate::contestants::{Any, Contestant};
use crate::log::{Log, Visit, Window};

/// The time for all processes to learn of a race before it begins.
const NOTICE: Duration = Duration::from_millis(30);

/// The queue forms before the measured time, in this fraction of it.
const WARM_UP: u32 = 4;

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

/// The log of a race between this many tasks, all in this process.
pub(crate) async fn log(contestant: &Any, key: &str, tasks: u32, window: Window) -> Log {
    Log::new(window, tasks, race(contestant, key, 0, tasks, window).await)
}

/// `tasks` tasks, numbered from `first`, take the lock in turns until the time is over. Returns
/// their visits.
pub(crate) async fn race(
    contestant: &Any,
    key: &str,
    first: u32,
    tasks: u32,
    window: Window,
) -> Vec<Visit> {
    let mut racing = JoinSet::new();
    for task in first..first + tasks {
        let (contestant, key) = (contestant.clone(), key.to_owned());
        racing.spawn(async move { turns(&contestant, &key, task, window).await });
    }
    racing.join_all().await.concat()
}

async fn turns(contestant: &Any, key: &str, task: u32, window: Window) -> Vec<Visit> {
    let mut visits = Vec::new();
    sleep_until(window.begin).await;
    let turns = async {
        loop {
            // The log compares the tokens of all turns, so each turn requests one.
            let (held, token) = contestant.acquire_fenced(key).await;
            let entered = now();
            // The body: it records its visit.
            visits.push(Visit {
                task,
                token,
                entered,
                left: now(),
            });
            contestant.release(held).await;
        }
    };
    // The timer ends the task. There is one timer per task: one per turn would take a large part of
    // a local turn's time.
    let _over: Result<(), _> = tokio::time::timeout_at(instant(window.end), turns).await;
    visits
}
