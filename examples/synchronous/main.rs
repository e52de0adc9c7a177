//! A program without async: no runtime, and one dependency.
//!
//! ```text
//! cargo run -p lock-example-synchronous
//! ```
//!
//! Set `LOCK_URL=redis://127.0.0.1:6379` to run it on a real server.

use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use lock_runtime::{LockClient, LockError, distributed_lock};

const CLERKS: u32 = 4;
const ROUNDS: u32 = 25;

/// The thread waits for the lock, works, and releases it.
#[distributed_lock(key = "stock:<sku>", ttl = "10s", wait = "30s")]
fn sell(sku: &str, stock: &AtomicU32) -> Result<u32, LockError> {
    // Two steps on purpose: without the lock, a concurrent sale would be lost.
    let left = stock.load(Ordering::SeqCst) - 1;
    thread::yield_now();
    stock.store(left, Ordering::SeqCst);
    Ok(left)
}

fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    // `build` does no I/O and needs no runtime. The first lock connects.
    LockClient::builder().url(url).build()?.install()?;

    let stock = AtomicU32::new(CLERKS * ROUNDS);
    println!(
        "{CLERKS} clerks sell {ROUNDS} apples each, of {}.",
        stock.load(Ordering::SeqCst)
    );
    thread::scope(|scope| {
        let clerk = || (0..ROUNDS).try_for_each(|_| sell("apple", &stock).map(drop));
        let clerks: Vec<_> = (0..CLERKS).map(|_| scope.spawn(clerk)).collect();
        clerks
            .into_iter()
            .try_for_each(|clerk| clerk.join().expect("a clerk does not panic"))
    })?;
    println!(
        "{} are left: no sale was lost.",
        stock.load(Ordering::SeqCst)
    );

    // Whatever takes, uses or releases a lock has a blocking form.
    let client = LockClient::installed()?;
    let guard = client.lock("stock:apple").acquire_blocking()?;
    println!(
        "The manager has the lock, token {}.",
        guard.fencing_token_blocking()?
    );
    let busy = client.lock("stock:apple").try_acquire_blocking()?.is_none();
    println!("Another caller finds it busy: {busy}.");
    guard.release_blocking()?;
    Ok(())
}
