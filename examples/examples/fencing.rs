//! Fencing tokens: a database refuses a writer whose lease has expired.
//!
//! ```text
//! cargo run -p lock-examples --example fencing --features sqlite
//! ```
//!
//! Set `LOCK_URL=redis://127.0.0.1:6379` to take the locks on a real server.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use lock_runtime::{FencingToken, LockClient};
use rusqlite::{Connection, params};

const LEASE: Duration = Duration::from_millis(200);

/// A database that remembers the token of the last write to each row.
struct Stock(Connection);

impl Stock {
    fn open(path: &Path) -> rusqlite::Result<Stock> {
        let database = Connection::open(path)?;
        database.execute_batch(
            "CREATE TABLE IF NOT EXISTS stock
                 (sku TEXT PRIMARY KEY, pieces INTEGER NOT NULL, fence INTEGER NOT NULL);
             INSERT OR IGNORE INTO stock VALUES ('apple', 100, 0);",
        )?;
        Ok(Stock(database))
    }

    fn pieces(&self, sku: &str) -> rusqlite::Result<i64> {
        let query = "SELECT pieces FROM stock WHERE sku = ?1";
        self.0.query_row(query, [sku], |row| row.get(0))
    }

    /// Writes, unless a holder with a later token has written. Returns whether it wrote.
    fn write(&self, sku: &str, pieces: i64, token: FencingToken) -> rusqlite::Result<bool> {
        let rows = self.0.execute(
            "UPDATE stock SET pieces = ?2, fence = ?3 WHERE sku = ?1 AND fence <= ?3",
            params![sku, pieces, i64::from(token)],
        )?;
        Ok(rows == 1)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::var("LOCK_URL").unwrap_or_else(|_| "memory://".to_owned());
    let client = LockClient::connect(&url).await?;
    let path = std::env::temp_dir().join(format!("lock-fencing-{}.db", std::process::id()));
    let outcome = sell(&client, &path).await;
    std::fs::remove_file(&path)?;
    outcome
}

async fn sell(client: &LockClient, path: &Path) -> Result<(), Box<dyn Error>> {
    let (ann, bob) = (Stock::open(path)?, Stock::open(path)?);
    // The token comes with the lock.
    let lock = || client.lock("stock:apple").ttl(LEASE).renew(false).fenced();

    let anns = lock().acquire().await?;
    let anns_token = anns.fencing_token().await?;
    let seen = ann.pieces("apple")?;
    println!("Ann  has the lock, token {anns_token}, and sees {seen}.");
    println!("Ann  sleeps for longer than her lease, as in a pause of the whole process.");
    // A body under the attribute is stopped before its lease ends. A paused process cannot be stopped,
    // and may write as soon as it resumes.
    tokio::time::sleep(LEASE * 2).await;

    let bobs = lock().acquire().await?;
    let bobs_token = bobs.fencing_token().await?;
    let now = bob.pieces("apple")?;
    println!("Bob  has the lock, token {bobs_token}, and sees {now}.");
    let written = bob.write("apple", now - 30, bobs_token)?;
    println!("Bob  sells 30: {}.", word(written));

    let written = ann.write("apple", seen - 1, anns_token)?;
    println!(
        "Ann  wakes up and sells 1 of the apples that she saw: {}.",
        word(written)
    );
    println!(
        "Ann  could have checked: is_valid() returns {}.",
        anns.is_valid()
    );
    println!("{} are left.", bob.pieces("apple")?);
    Ok(())
}

fn word(written: bool) -> &'static str {
    if written {
        "written"
    } else {
        "refused, stale token"
    }
}
