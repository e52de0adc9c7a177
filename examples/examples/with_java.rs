//! A Rust service that takes the same locks as a Java service with Redisson. The Java service does:
//!
//! ```java
//! RLock lock = redisson.getLock("stock:7");
//! lock.lock();
//! try { take(7); } finally { lock.unlock(); }
//! ```
//!
//! ```text
//! cargo run -p lock-examples --example with_java
//! ```
//!
//! Set `LOCK_URL=redis://127.0.0.1:6379` to run it on a real server, alongside such a service or in several
//! terminals.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use lock_runtime::{LockClient, LockError, LockErrorKind, LockRecord, distributed_lock};

/// A warehouse whose stock the Java service also changes.
struct Warehouse {
    with_java: LockClient,
    stock: AtomicU32,
}

impl Warehouse {
    /// Reads and then writes: without the lock, updates would be lost.
    #[distributed_lock(key = "stock:<sku>", ttl = "30s", wait = "10s", client = self.with_java)]
    async fn take(&self, sku: u32, clerk: u32) -> Result<(), LockError> {
        let before = self.stock.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(5)).await;
        self.stock.store(before - 1, Ordering::SeqCst);
        println!("Clerk {clerk} takes one of {before} pieces.");
        Ok(())
    }

    /// Redisson's record has one holder, and no readers.
    #[distributed_lock(key = "stock:<sku>", mode = "read", client = self.with_java)]
    async fn count(&self, sku: u32) -> Result<u32, LockError> {
        Ok(self.stock.load(Ordering::SeqCst))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    let locks = LockClient::builder().url(url);
    let warehouse = Warehouse {
        // Redisson's lock names have no prefix.
        with_java: locks
            .prefix("")
            .record(LockRecord::Redisson)
            .connect()
            .await?,
        stock: AtomicU32::new(10),
    };

    let (one, two, three) = tokio::join!(
        warehouse.take(7, 1),
        warehouse.take(7, 2),
        warehouse.take(7, 3)
    );
    one.and(two).and(three)?;
    println!(
        "{} pieces are left.",
        warehouse.stock.load(Ordering::SeqCst)
    );

    match warehouse.count(7).await {
        Err(error) if error.kind() == LockErrorKind::InvalidOptions => println!("Refused: {error}"),
        outcome => return Err(format!("a reader was not refused: {outcome:?}").into()),
    }
    warehouse.with_java.shutdown().await;
    Ok(())
}
