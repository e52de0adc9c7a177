//! A lock that is lost: the body stops at its current await, and the call fails.
//!
//! ```text
//! cargo run -p lock-examples --example lost_lease
//! ```
//!
//! Set `LOCK_URL=redis://127.0.0.1:6379` to run it on a real server.

use std::error::Error;
use std::time::Duration;

use lock_runtime::{LockClient, LockError, distributed_lock};

const STEP: Duration = Duration::from_millis(100);

/// Reports its drop: a stopped body is dropped, and its destructors run.
struct Work(&'static str);

impl Drop for Work {
    fn drop(&mut self) {
        println!("  {} ends.", self.0);
    }
}

/// Leases are renewed by default. Without renewal, this lease expires as if its server were gone.
#[distributed_lock(key = "import", ttl = "350ms", renew = false, wait = "0s")]
async fn import(batches: u32) -> Result<u32, LockError> {
    let _work = Work("the import");
    for batch in 1..=batches {
        tokio::time::sleep(STEP).await;
        println!("  batch {batch} of {batches}");
    }
    Ok(batches)
}

/// The same for work that should finish regardless: `on_lost = "finish"` keeps the result.
#[distributed_lock(
    key = "import",
    ttl = "350ms",
    renew = false,
    wait = "0s",
    on_lost = "finish"
)]
async fn import_to_the_end(batches: u32) -> Result<u32, LockError> {
    let _work = Work("the second import");
    tokio::time::sleep(STEP * batches).await;
    Ok(batches)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    LockClient::connect(&url).await?.install()?;

    println!("An import of ten batches, under a lease that lasts for three:");
    match import(10).await {
        Ok(batches) => println!("All {batches} batches: this must not happen."),
        Err(error) if error.is_lost() => println!("Stopped: {error}."),
        Err(error) => return Err(error.into()),
    }
    println!("Once more, but now the import may go on without its lock:");
    let batches = import_to_the_end(5).await?;
    println!("All {batches} batches, the last of them unprotected.");
    Ok(())
}
