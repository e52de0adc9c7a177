//! A lottery that every instance of a service wants to draw, and one does: a scheduled job.
//!
//! ```text
//! cargo run -p lock-examples --example lottery
//! ```
//!
//! The instances are tasks here, and their record is a variable of the program.
//! `LOCK_URL=redis://127.0.0.1:6379` before it takes the lock on a real server.

use std::error::Error;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use lock_runtime::{LockClient, LockError, distributed_lock};
use tokio::task::JoinSet;

const INSTANCES: u32 = 5;

/// What was drawn; in a service, a table of its database.
static DRAWN: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// `None` for the instances that find another one at it: they need not wait.
///
/// The lock keeps two from drawing at the same time, and nothing more. An instance whose clock is
/// late comes when all is over, and finds the lock free: what it must find is the record.
#[distributed_lock(key = "lottery:<day>", wait = "0s", on_busy = "skip")]
async fn draw(day: &str, instance: u32) -> Result<Option<u32>, LockError> {
    let before = drawn().first().copied();
    if let Some(number) = before {
        println!("  instance {instance} comes late: {number} was drawn.");
        return Ok(Some(number));
    }
    println!("  instance {instance} draws.");
    tokio::time::sleep(Duration::from_millis(100)).await; // the drum turns
    let number = 4 + 38 * instance;
    drawn().push(number);
    Ok(Some(number))
}

fn drawn() -> MutexGuard<'static, Vec<u32>> {
    DRAWN.lock().expect("nobody panics")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    LockClient::connect(&url).await?.install()?;
    println!("It is midnight, and {INSTANCES} instances wake up.");
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
