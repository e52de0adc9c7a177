//! Locks beyond one holder of one key: a report that many read and one rebuilds, a supplier that takes three calls at a
//! time, and a transfer that holds two accounts.
//!
//! ```text
//! cargo run -p lock-examples --example modes
//! ```
//!
//! Set `LOCK_URL=redis://127.0.0.1:6379` to run it on a real server, in several terminals at once.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lock_runtime::{LockClient, LockError, distributed_lock};

/// Counts concurrent callers.
struct Inside {
    now: AtomicU32,
    most: AtomicU32,
}

impl Inside {
    const fn new() -> Inside {
        Inside {
            now: AtomicU32::new(0),
            most: AtomicU32::new(0),
        }
    }

    async fn stay(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(20)).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> u32 {
        self.most.load(Ordering::SeqCst)
    }
}

static READERS: Inside = Inside::new();
static WRITERS: Inside = Inside::new();
static CALLS: Inside = Inside::new();
static TRANSFERS: Inside = Inside::new();

#[distributed_lock(key = "report:<day>", mode = "read")]
async fn read(day: u64) -> Result<(), LockError> {
    READERS.stay().await;
    Ok(())
}

#[distributed_lock(key = "report:<day>", mode = "write")]
async fn rebuild(day: u64) -> Result<(), LockError> {
    assert_eq!(READERS.now.load(Ordering::SeqCst), 0, "no reader is inside");
    WRITERS.stay().await;
    Ok(())
}

/// At most three callers of all machines are inside at once.
#[distributed_lock(key = "supplier", permits = 3)]
async fn order(article: u64) -> Result<(), LockError> {
    println!("  ordering article {article}");
    CALLS.stay().await;
    Ok(())
}

/// Locks both accounts or none. The order of the keys does not matter, and a transfer to the same account locks it once.
#[distributed_lock(keys = ["account:<from>", "account:<to>"])]
async fn transfer(from: u64, to: u64) -> Result<(), LockError> {
    TRANSFERS.stay().await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    LockClient::connect(&url).await?.install()?;

    let (a, b, c, d) = tokio::join!(read(7), read(7), rebuild(7), read(7));
    a.and(b).and(c).and(d)?;
    println!(
        "{} read the report at once, and {} rebuilt it",
        READERS.most(),
        WRITERS.most()
    );

    let (a, b, c, d, e) = tokio::join!(order(1), order(2), order(3), order(4), order(5));
    a.and(b).and(c).and(d).and(e)?;
    println!(
        "{} of 5 orders were with the supplier at once",
        CALLS.most()
    );

    let (a, b, c) = tokio::join!(transfer(1, 2), transfer(2, 1), transfer(1, 1));
    a.and(b).and(c)?;
    println!("{} transfer at a time", TRANSFERS.most());
    Ok(())
}
