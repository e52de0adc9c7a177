//! A scheduled job: every instance of a service starts a lottery, and one of them draws it.
//!
//! ```text
//! cargo run -p lock-examples --example lottery
//! ```
//!
//! The instances are tasks of this program, and a variable stands for their database. Set
//! `LOCK_URL=redis://127.0.0.1:6379` to take the lock on a real server.

use std::error::Error;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use lock_runtime::{LockClient, LockError, distributed_lock};
use tokio::task::JoinSet;

const INSTANCES: u32 = 5;

/// The numbers that were drawn. In a service, this is a table in its database.
static DRAWN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Returns `None` if the lock is busy, since the instance need not wait.
///
/// The lock prevents only concurrent draws. An instance whose clock is late finds the lock free again,
/// so it must check the record.
#[distributed_lock(key = "lottery:<day>", wait = "0s", on_busy = "skip")]
async fn draw(day: &str, instance: u32) -> Result<Option<u32>, LockError> {
    let before = drawn().first().copied();
    if let Some(number) = before {
        println!("  instance {instance} comes late: {number} is drawn already.");
        return Ok(Some(number));
    }
    println!("  instance {instance} draws.");
    tokio::time::sleep(Duration::from_millis(100)).await; // the drum turns
    let number = 4 + 38 * instance;
    drawn().push(number);
    Ok(Some(number))
}

fn drawn() -> MutexGuard<'static, Vec<u32>> {
    DRAWN.lock().expect("no thread panics with the mutex held")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    LockClient::connect(&url).await?.install()?;
    println!("It is midnight, and {INSTANCES} instances start the job.");
    let mut instances = JoinSet::new();
    for instance in 1..=INSTANCES {
        instances.spawn(async move { (instance, draw("monday", instance).await) });
    }
    while let Some(joined) = instances.join_next().await {
        match joined? {
            (instance, Ok(None)) => println!("  instance {instance} is not needed."),
            (_, outcome) => drop(outcome?),
        }
    }
    draw("monday", INSTANCES + 1).await?;
    assert_eq!(drawn().len(), 1, "a lottery is drawn once");
    println!("The drum turned once.");
    Ok(())
}
