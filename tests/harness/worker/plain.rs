//! The lock of most tutorials: `SET NX PX`, polled, released by a compare-and-delete script.
//!
//! This lock has no renewal, no deadline of its own and no fencing token. The harness must detect its
//! failures, or it would not detect those of the crate either.

use std::future::pending;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{RedisError, RedisResult};

use super::locks::{Held, Locks};
use super::visit::Visit;
use crate::wait;

const STEP: Duration = Duration::from_millis(10);

const DELETE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

/// The client.
#[derive(Clone)]
pub(crate) struct Plain {
    server: redis::Client,
}

/// Its lock.
pub(crate) struct PlainHeld {
    connection: MultiplexedConnection,
    key: String,
    owner: String,
}

impl Plain {
    /// A client of the server at `url`, with the crate's prefix, so that both kinds use the same
    /// record.
    pub(crate) fn new(url: &str) -> Self {
        let server = redis::Client::open(url).expect("the URL is well formed");
        Self { server }
    }
}

impl Locks for Plain {
    type Held = PlainHeld;

    async fn acquire(&self, key: &str, ttl: Duration, wait: Duration) -> Result<PlainHeld, String> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let started = Instant::now();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let connection = self.server.get_multiplexed_async_connection().await;
        let mut held = PlainHeld {
            connection: connection.map_err(|error| words(&error))?,
            key: format!("lock:{key}"),
            owner: format!("plain (pid {}) {number}", process::id()),
        };
        loop {
            match held.try_set(ttl).await {
                Ok(true) => return Ok(held),
                Ok(false) if started.elapsed() >= wait => return Err("Busy in time".to_owned()),
                Ok(false) => tokio::time::sleep(STEP).await,
                Err(error) => return Err(words(&error)),
            }
        }
    }

    async fn run(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
        visit: Visit,
    ) -> Result<RedisResult<bool>, String> {
        let held = self.acquire(key, ttl, wait).await?;
        let made = visit.make(held.token()).await;
        held.release().await?;
        Ok(made)
    }

    async fn shutdown(&self) {}
}

impl PlainHeld {
    async fn try_set(&mut self, ttl: Duration) -> RedisResult<bool> {
        let answer: Option<String> = redis::cmd("SET")
            .arg(&self.key)
            .arg(&self.owner)
            .arg("NX")
            .arg("PX")
            .arg(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
            .query_async(&mut self.connection)
            .await?;
        Ok(answer.is_some())
    }
}

impl Held for PlainHeld {
    fn token(&self) -> u64 {
        0
    }

    fn is_valid(&self) -> bool {
        true
    }

    async fn stall(&self, time: Duration) -> Result<(), String> {
        wait::block(time);
        pending().await
    }

    async fn renew(&mut self) -> Result<(), String> {
        Ok(())
    }

    async fn downgrade(self) -> Result<Self, String> {
        Err("InvalidOptions it has no readers".to_owned())
    }

    async fn release(mut self) -> Result<(), String> {
        let deleted: RedisResult<u64> = redis::cmd("EVAL")
            .arg(DELETE)
            .arg(1)
            .arg(&self.key)
            .arg(&self.owner)
            .query_async(&mut self.connection)
            .await;
        match deleted {
            Ok(1) => Ok(()),
            Ok(_) => Err("Lost at the release".to_owned()),
            Err(error) => Err(words(&error)),
        }
    }
}

fn words(error: &RedisError) -> String {
    format!("Unavailable {error}")
}
