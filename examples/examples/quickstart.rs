//! Several clerks ship the same order, one at a time.
//!
//! In memory, in one process:
//!
//! ```text
//! cargo run -p lock-examples --example quickstart
//! ```
//!
//! On a real server, in as many terminals as you like:
//!
//! ```text
//! LOCK_URL=redis://127.0.0.1:6379 cargo run -p lock-examples --example quickstart
//! ```

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use lock_runtime::{FencingToken, LockClient, LockError, distributed_lock};

const CLERKS: u32 = 4;
const ROUNDS: u32 = 3;
const ORDER: u64 = 42;

/// The result of one shipment.
struct Receipt {
    token: FencingToken,
    /// The number of other clerks of this process that shipped the order at the same time.
    at_the_same_time: u32,
}

/// The business function. It runs under a lock that every process on the same server respects.
#[distributed_lock(key = "order:<id>", ttl = "10s", wait = "90s", token = token)]
async fn ship(id: u64, shipping: &AtomicU32) -> Result<Receipt, LockError> {
    let at_the_same_time = shipping.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(50)).await;
    shipping.fetch_sub(1, Ordering::SeqCst);
    Ok(Receipt {
        token,
        at_the_same_time,
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    LockClient::connect(&url).await?.install()?;
    let place = if url == "memory://" {
        "in memory"
    } else {
        "on the server of LOCK_URL"
    };
    let process = std::process::id();
    println!(
        "Process {process}: {CLERKS} clerks ship order {ORDER} {ROUNDS} times each, {place}.\n"
    );
    println!("  clerk  waited     token");

    let shipping = Arc::new(AtomicU32::new(0));
    let started = Instant::now();
    let mut clerks = Vec::new();
    for clerk in 1..=CLERKS {
        let shipping = shipping.clone();
        clerks.push(tokio::spawn(async move {
            for _ in 0..ROUNDS {
                let asked = Instant::now();
                let receipt = ship(ORDER, &shipping).await?;
                // The body takes 50 ms. The rest is the wait for the other clerks.
                let waited = asked.elapsed().saturating_sub(Duration::from_millis(50));
                println!(
                    "  {clerk:>5}  {:>4} ms  {:>8}",
                    waited.as_millis(),
                    receipt.token
                );
                assert_eq!(
                    receipt.at_the_same_time, 0,
                    "two clerks shipped at the same time"
                );
            }
            Ok::<_, LockError>(())
        }));
    }
    for clerk in clerks {
        clerk.await??;
    }
    let shipped = CLERKS * ROUNDS;
    println!(
        "\n{shipped} times shipped in {} ms, never by two at once.",
        started.elapsed().as_millis()
    );
    Ok(())
}
