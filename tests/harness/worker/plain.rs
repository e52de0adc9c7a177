//! The lock of most tutorials: `SET NX PX`, polled, released by a compare-and-delete script. On
//! several servers it is Redlock: a majority of them must grant it.
//!
//! This lock has no renewal, no local deadline and no fencing token. The harness must detect its
//! failures: otherwise it would not detect failures of the crate either.

use std::hash::{BuildHasher, RandomState};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{RedisError, RedisResult};

use super::locks::{Call, Held, Locks};

const STEP: Duration = Duration::from_millis(10);

const DELETE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

#[derive(Clone)]
pub(crate) struct Plain {
    servers: Vec<redis::Client>,
}

pub(crate) struct PlainHeld {
    connections: Vec<MultiplexedConnection>,
    key: String,
    owner: String,
}

impl Plain {
    /// A client of the server at `url`, or of the nodes in a `redlock://` URL, with the crate's prefix, so that
    /// both kinds use the same record.
    pub(crate) fn new(url: &str) -> Self {
        let urls: Vec<String> = match url.strip_prefix("redlock://") {
            None => vec![url.to_owned()],
            Some(nodes) => nodes
                .split(',')
                .map(|node| format!("redis://{node}"))
                .collect(),
        };
        let client = |url: String| redis::Client::open(url).expect("the URL is well formed");
        let servers = urls.into_iter().map(client).collect();
        Self { servers }
    }
}

impl Locks for Plain {
    type Held = PlainHeld;

    async fn acquire(&self, call: &Call) -> Result<PlainHeld, String> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let started = Instant::now();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut connections = Vec::new();
        for server in &self.servers {
            let connection = server.get_multiplexed_async_connection().await;
            connections.push(connection.map_err(|error| words(&error))?);
        }
        let mut held = PlainHeld {
            connections,
            key: format!("lock:{}", call.name),
            owner: format!("plain (pid {}) {number}", process::id()),
        };
        loop {
            match held.try_set(call.ttl).await {
                Ok(true) => return Ok(held),
                Ok(false) if started.elapsed() >= call.wait => {
                    return Err("Busy in time".to_owned());
                }
                Ok(false) => tokio::time::sleep(held.pause()).await,
                Err(error) => return Err(words(&error)),
            }
        }
    }
}

impl PlainHeld {
    async fn try_set(&mut self, ttl: Duration) -> RedisResult<bool> {
        let mut set = redis::cmd("SET");
        set.arg(&self.key).arg(&self.owner).arg("NX").arg("PX");
        set.arg(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        let mut taken = 0;
        for connection in &mut self.connections {
            let answer: Option<String> = set.query_async(connection).await?;
            taken += usize::from(answer.is_some());
        }
        let has_majority = self.is_majority(taken);
        if taken > 0 && !has_majority {
            self.delete().await?;
        }
        Ok(has_majority)
    }

    /// Deletes the lock where this owner has it. Returns the number of servers that had it.
    async fn delete(&mut self) -> RedisResult<usize> {
        let mut delete = redis::cmd("EVAL");
        delete.arg(DELETE).arg(1).arg(&self.key).arg(&self.owner);
        let mut deleted = 0;
        for connection in &mut self.connections {
            deleted += delete.query_async::<usize>(connection).await?;
        }
        Ok(deleted)
    }

    fn is_majority(&self, servers: usize) -> bool {
        servers > self.connections.len() / 2
    }

    /// The time between two polls. On several servers it is random, so that two clients that
    /// collided do not collide again.
    fn pause(&self) -> Duration {
        match self.connections.len() {
            1 => STEP,
            _ => STEP + STEP.mul_f64(RandomState::new().hash_one(()) as f64 / u64::MAX as f64),
        }
    }
}

impl Held for PlainHeld {
    fn is_valid(&self) -> bool {
        true
    }

    async fn renew(&mut self) -> Result<(), String> {
        Ok(())
    }

    async fn release(mut self) -> Result<(), String> {
        match self.delete().await {
            Ok(deleted) if self.is_majority(deleted) => Ok(()),
            Ok(_) => Err("Lost at the release".to_owned()),
            Err(error) => Err(words(&error)),
        }
    }
}

pub(super) fn words(error: &RedisError) -> String {
    format!("Unavailable {error}")
}
