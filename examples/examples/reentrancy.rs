//! Locked functions that call locked functions: a lock belongs to a call tree, not to a thread.
//!
//! ```text
//! cargo run -p lock-examples --example reentrancy
//! ```
//!
//! Set `LOCK_URL=redis://127.0.0.1:6379` to run it on a real server.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lock_runtime::{FencingToken, LockClient, LockError, distributed_lock, in_current_hold};

/// How many bookings run right now.
static BOOKING: AtomicU32 = AtomicU32::new(0);

#[distributed_lock(key = "account:<account>", guard = held)]
async fn close(account: u64) -> Result<(), LockError> {
    let own_token = held.fencing_token().await?;
    println!("close  has account {account} with token {own_token}");

    // The same key in a nested call: it enters the lock at once, without a command to the server.
    let token = book(account, "interest").await?;
    assert_eq!(token, own_token, "it is the same hold");

    // Two concurrent calls are siblings: one runs at a time.
    println!("close  books two at once:");
    let (one, other) = tokio::join!(book(account, "fees"), book(account, "tax"));
    one.and(other)?;

    // A spawned task is not part of the call, and would wait for it. `in_current_hold` makes it part of the call.
    println!("close  spawns two tasks, one of them with in_current_hold:");
    let separate = tokio::spawn(peek(account));
    let carried = tokio::spawn(in_current_hold(book(account, "farewell")));
    carried.await.expect("the task does not panic")?;
    let found = separate.await.expect("the task does not panic")?;
    println!(
        "  the other task finds the account {}",
        if found.is_some() { "free" } else { "busy" }
    );
    Ok(())
}

/// A nested call has the token of the outermost call.
#[distributed_lock(key = "account:<account>", guard = held, token = token)]
async fn book(account: u64, what: &str) -> Result<FencingToken, LockError> {
    assert_eq!(BOOKING.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
    println!(
        "  book {what}, holder {} of the same hold",
        held.hold_count()
    );
    tokio::time::sleep(Duration::from_millis(20)).await;
    BOOKING.fetch_sub(1, Ordering::SeqCst);
    Ok(token)
}

/// Returns `None` if the account is busy. An unreachable server is an error, since it is then unknown
/// whether the account is busy.
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
        "close  has returned, and the lock is free: {}.",
        peek(42).await?.is_some()
    );
    Ok(())
}
