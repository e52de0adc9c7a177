//! A short job that every machine starts at each tick, and that runs once per tick although their clocks differ.
//!
//! ```text
//! cargo run -p lock-examples --example hourly
//! ```
//!
//! The machines are calls of this program, one after the other, and a tick comes every few seconds. Set
//! `LOCK_URL=redis://127.0.0.1:6379` to take the lock on a real server.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lock_runtime::{LockClient, LockError, distributed_lock};
use tokio::time::{Instant, sleep, sleep_until};

const MACHINES: u32 = 3;

/// The time between two ticks: an hour for most jobs.
const TICK: Duration = Duration::from_secs(4);

static RUNS: AtomicU32 = AtomicU32::new(0);

/// The job takes no time, so its lock would be free before the next machine's clock strikes. The
/// minimum hold keeps the lock taken for longer than the clocks differ, but less than a tick.
/// Returns `None` if another machine was first.
#[distributed_lock(key = "report", wait = "0s", on_busy = "skip", min_hold = "3s")]
async fn report(machine: u32) -> Result<Option<()>, LockError> {
    println!("  machine {machine} writes the report.");
    RUNS.fetch_add(1, Ordering::SeqCst);
    Ok(Some(()))
}

/// Every machine's clock strikes, each a little after the one before it.
async fn tick() -> Result<(), LockError> {
    for machine in 1..=MACHINES {
        if report(machine).await?.is_none() {
            println!("  machine {machine} is not needed.");
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    LockClient::connect(&url).await?.install()?;
    let begin = Instant::now();
    for hour in 1..=2 {
        sleep_until(begin + (hour - 1) * TICK).await;
        println!("It is {hour} o'clock.");
        tick().await?;
        assert_eq!(RUNS.load(Ordering::SeqCst), hour, "once per tick");
    }
    println!("The report was written once in each hour.");
    Ok(())
}
