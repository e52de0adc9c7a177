//! Locked functions that call locked functions: a lock belongs to a call tree, not to a thread.
//!
//! ```text
//! cargo run -p lock-examples --example reentrancy
//! ```
//!
//! `LOCK_URL=redis://127.0.0.1:6379` before it does the same on a real server.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lock_runtime::{FencingToken, LockClient, LockError, distributed_lock, in_current_hold};

/// How many bookings run right now.
static BOOKING: AtomicU32 = AtomicU32::new(0);

#[distributed_lock(key = "account:<account>", guard = held)]
async fn close(account: u64) -> Result<(), LockError> {
    println!(
        "close  has account {account} with token {}",
        held.fencing_token()
    );

    // The same key, deeper in the same call: entered at once, and nothing is sent to the server.
    let token = book(account, "interest").await?;
    assert_eq!(token, held.fencing_token(), "it is the same hold");

    // Two calls side by side are siblings: they take turns.
    println!("close  books two at once:");
    let (one, other) = tokio::join!(book(account, "fees"), book(account, "tax"));
    one.and(other)?;

    // A task of its own is no part of the call: it would wait for us, unless it is carried along.
    println!("close  spawns two, one of them carried along:");
    let stranger = tokio::spawn(peek(account));
    let carried = tokio::spawn(in_current_hold(book(account, "farewell")));
    carried.await.expect("it does not panic")?;
    let found = stranger.await.expect("it does not panic")?;
    println!(
        "  the other one finds the account {}",
        if found.is_some() { "free" } else { "busy" }
    );
    Ok(())
}

#[distributed_lock(key = "account:<account>", guard = held)]
async fn book(account: u64, what: &str) -> Result<FencingToken, LockError> {
    assert_eq!(BOOKING.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
    println!(
        "  book {what}, holder {} of the same hold",
        held.hold_count()
    );
    tokio::time::sleep(Duration::from_millis(20)).await;
    BOOKING.fetch_sub(1, Ordering::SeqCst);
    Ok(held.fencing_token())
}

/// Whether somebody could have the account right now: `None` if it is busy. Nobody can tell while the
/// server is away, so that is an error.
#[distributed_lock(key = "account:<account>", wait = "0s", on_busy = "skip")]
async fn peek(account: u64) -> Result<Option<()>, LockError> {
    Ok(Some(()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    LockClient::connect(&url).await?.install()?;
    close(42).await?;
    println!(
        "close  is done, and so is the lock: free again is {}.",
        peek(42).await?.is_some()
    );
    Ok(())
}
