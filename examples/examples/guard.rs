//! A lock without the attribute: acquires, renews and releases a guard.
//!
//! ```text
//! cargo run -p lock-examples --example guard
//! ```
//!
//! Set `LOCK_URL=redis://127.0.0.1:6379` to run it on a real server.

use std::error::Error;
use std::time::Duration;

use lock_runtime::LockClient;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    let client = LockClient::connect(&url).await?;
    let report = || client.lock("report:daily").ttl(Duration::from_secs(10));

    let guard = report().wait(Duration::from_secs(2)).acquire().await?;
    println!("Acquired `{}`.", guard.key());
    // The server mints a token when the holder requests one. `fenced()` before `acquire` requests
    // it together with the lock.
    println!("  Write with token {}.", guard.fencing_token().await?);
    println!("  Still held, by the local clock: {}.", guard.is_valid());

    // For `try_acquire`, contention is a result and not an error.
    match report().try_acquire().await? {
        Some(_) => println!("Two callers hold it: this must not happen."),
        None => println!("A second caller tries: busy."),
    }
    // For `acquire`, contention is an error that names the holder.
    let error = report().wait(Duration::from_millis(100)).acquire().await;
    println!("A second caller waits: {}.", error.unwrap_err());

    // The background renews the lease. `renew` also asks the server whether the lock is still held.
    guard.renew().await?;
    println!("The server confirms that the lock is held.");

    guard.release().await?;
    println!("Released, after it was held all the time.");

    // Dropping a guard releases its lock, too, but does not report the result.
    let second = report().acquire().await?;
    println!(
        "The next holder writes with token {}.",
        second.fencing_token().await?
    );
    drop(second);

    // The shortest form: the lock is held for as long as the closure runs.
    let lines = report().run(async |_guard| 1_042).await?;
    println!("Wrote {lines} lines under the lock.");
    client.shutdown().await;
    Ok(())
}
