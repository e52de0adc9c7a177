//! A lock by hand: a guard that is acquired, renewed and released, without the attribute.
//!
//! ```text
//! cargo run -p lock-examples --example guard
//! ```
//!
//! `LOCK_URL=redis://127.0.0.1:6379` before it does the same on a real server.

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
    println!("  Write with token {}.", guard.fencing_token());
    println!("  Still held, as far as we know: {}.", guard.is_valid());

    // Contention is an answer, not an error.
    match report().try_acquire().await? {
        Some(_) => println!("Two hold it: this cannot be."),
        None => println!("Somebody else tries: busy."),
    }
    // With a wait it is one, and says who is in the way.
    let error = report().wait(Duration::from_millis(100)).acquire().await;
    println!("Somebody else waits: {}.", error.unwrap_err());

    // Renewal goes on in the background. By hand it is also the question to the server.
    guard.renew().await?;
    println!("The server says that it is still ours.");

    guard.release().await?;
    println!("Released, and held until then.");

    // A guard that is dropped gives its lock back too; only nobody hears how that went.
    let second = report().acquire().await?;
    println!("The next one writes with token {}.", second.fencing_token());
    drop(second);

    // The shortest way: the lock is held for as long as the closure runs.
    let lines = report().run(async |_guard| 1_042).await?;
    println!("Wrote {lines} lines under the lock.");
    client.shutdown().await;
    Ok(())
}
