//! `bench`: measures the cost of a lock from here, compared with a round trip.

use std::fmt;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lock_runtime::{LockClient, LockError};
use serde::Serialize;
use tokio::time::sleep;

use crate::args::{Bench, Connection};
use crate::exit::{Exit, Failure};
use crate::operator;
use crate::output::{Form, print};

/// A measured figure, and the number of samples.
#[derive(Debug, Serialize)]
struct Figure {
    figure: &'static str,
    count: usize,
    p50_us: u64,
    p99_us: u64,
    /// The median in round trips.
    round_trips: f64,
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figure {
            figure,
            count,
            p50_us,
            p99_us,
            round_trips,
        } = self;
        write!(
            f,
            "{figure:<22} p50 {p50_us:>8} µs   p99 {p99_us:>8} µs   {round_trips:>5.2} round trips   {count} measured"
        )
    }
}

pub(crate) async fn bench(
    connection: &Connection,
    bench: Bench,
    form: Form,
) -> Result<Exit, Failure> {
    let label = format!("{} bench", operator::at_host(connection.operator()));
    let client = connection.connect(&label).await?;
    let time = *bench.time / 3;
    let name = key();

    let floor = until(time, async || client.ping().await.map(drop)).await?;
    let floor = figure("round trip", floor, None);
    print(form, &floor)?;

    let cycle = async || client.lock(name.as_str()).acquire().await?.release().await;
    let cycles = until(time, cycle).await?;
    print(form, &figure("acquire and release", cycles, Some(&floor)))?;

    let other = connection.connect(&label).await?;
    let hold = Duration::from_micros(floor.p99_us * 3) + Duration::from_millis(1);
    let hand_offs = hand_offs([&client, &other], &name, hold, time).await?;
    print(
        form,
        &figure("release to next grant", hand_offs, Some(&floor)),
    )?;
    other.shutdown().await;
    client.shutdown().await;
    Ok(Exit::DONE)
}

/// The key of a lock that no other program uses.
fn key() -> String {
    // Keyed with random bits of the system.
    let random = RandomState::new().hash_one(std::process::id());
    format!("lockctl:bench:{random:016x}")
}

/// Calls repeatedly for `time`, and at least ten times. Returns how long each call took.
async fn until<F>(time: Duration, call: impl Fn() -> F) -> Result<Vec<Duration>, LockError>
where
    F: Future<Output = Result<(), LockError>>,
{
    // The first call loads the scripts into the server.
    call().await?;
    let (start, mut took) = (Instant::now(), Vec::new());
    while start.elapsed() < time || took.len() < 10 {
        let begun = Instant::now();
        call().await?;
        took.push(begun.elapsed());
    }
    Ok(took)
}

/// Returns the times from each release to the other client's grant. The clients take turns, and each holds the lock long
/// enough for the other to wait.
async fn hand_offs(
    clients: [&LockClient; 2],
    key: &str,
    hold: Duration,
    time: Duration,
) -> Result<Vec<Duration>, LockError> {
    /// When the lock was last released, and the times of the earlier releases.
    type Shared = Arc<Mutex<(Option<Instant>, Vec<Duration>)>>;
    let shared = Shared::default();
    let end = Instant::now() + time;
    let turns = clients.map(|client| {
        let shared = shared.clone();
        async move {
            while Instant::now() < end {
                let guard = client
                    .lock(key)
                    .wait(Duration::from_secs(60))
                    .acquire()
                    .await?;
                let granted = Instant::now();
                {
                    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(released) = shared.0.take() {
                        shared.1.push(granted - released);
                    }
                }
                sleep(hold).await;
                shared.lock().unwrap_or_else(PoisonError::into_inner).0 = Some(Instant::now());
                guard.release().await?;
            }
            Ok::<_, LockError>(())
        }
    });
    let [one, two] = turns;
    let (one, two) = tokio::join!(one, two);
    one.and(two)?;
    let took = std::mem::take(&mut shared.lock().unwrap_or_else(PoisonError::into_inner).1);
    Ok(took)
}

fn figure(figure: &'static str, mut took: Vec<Duration>, floor: Option<&Figure>) -> Figure {
    took.sort_unstable();
    let at = |part: usize| {
        let place = (took.len() * part / 100).min(took.len().saturating_sub(1));
        took.get(place).map_or(0, |took| {
            u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
        })
    };
    let (p50_us, p99_us) = (at(50), at(99));
    let floor = floor.map_or(p50_us, |floor| floor.p50_us).max(1);
    Figure {
        figure,
        count: took.len(),
        p50_us,
        p99_us,
        round_trips: (p50_us as f64 / floor as f64 * 100.0).round() / 100.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_the_median_and_the_99th_of_100() {
        let took = (1..=100).rev().map(Duration::from_micros).collect();
        let floor = figure("floor", took, None);
        assert_eq!((floor.p50_us, floor.p99_us), (51, 100));
        let double = figure("double", vec![Duration::from_micros(102)], Some(&floor));
        assert_eq!((double.p99_us, double.round_trips), (102, 2.0));
        assert_eq!(figure("none", Vec::new(), Some(&floor)).p50_us, 0);
    }
}
