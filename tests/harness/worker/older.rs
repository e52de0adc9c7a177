//! A client that knows nothing of shares: the plain scripts as they were before locks could be shared, in
//! commit 0dececc of version 0.1.0, from before its release.
//!
//! It queues, waits for messages and polls, confirms grants within their claim, hands on, and gives up, as
//! the client of that version does. It does not renew in the background and does not reconnect.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, RedisError, RedisResult, Value};
use tokio::sync::{Notify, OnceCell};

use super::locks::{Held, Locks};
use super::visit::Visit;
use crate::wait::{self, PATIENCE};

/// The longest time between two polls.
const POLL: Duration = Duration::from_millis(200);

macro_rules! lua {
    ($($file:literal),+) => {
        concat!($(include_str!(concat!("../older/", $file))),+)
    };
}

const ACQUIRE: &str = lua!("take.lua", "grant.lua", "acquire.lua");
const RENEW: &str = lua!("renew.lua");
const RELEASE: &str = lua!("release.lua");
const END: &str = lua!("grant.lua", "end.lua");

/// The client.
#[derive(Clone)]
pub(crate) struct Older {
    server: redis::Client,
    connection: Arc<OnceCell<MultiplexedConnection>>,
    /// A message about a grant has come, maybe that of another owner.
    message: Arc<Notify>,
}

/// Its lock.
pub(crate) struct OlderHeld {
    owner: Owner,
    token: u64,
    ttl: Duration,
    deadline: Instant,
}

/// An owner, from its first command to its last.
#[derive(Clone)]
struct Owner {
    connection: MultiplexedConnection,
    /// The lock, its fence and its queue.
    keys: [String; 3],
    id: String,
}

impl Older {
    /// A client of the server at `url`.
    pub(crate) fn new(url: &str) -> Self {
        let server = redis::Client::open(format!("{url}?protocol=resp3"));
        Self {
            server: server.expect("the URL is well formed"),
            connection: Arc::default(),
            message: Arc::default(),
        }
    }

    /// The connection, which also receives the messages of this process.
    async fn connection(&self) -> RedisResult<MultiplexedConnection> {
        let connect = || async {
            let message = Arc::clone(&self.message);
            let config = AsyncConnectionConfig::new()
                .set_connection_timeout(Some(PATIENCE))
                .set_response_timeout(Some(PATIENCE))
                .set_push_sender(move |_| {
                    message.notify_waiters();
                    Ok::<_, RedisError>(())
                });
            let connecting = self
                .server
                .get_multiplexed_async_connection_with_config(&config);
            let mut connection = connecting.await?;
            let channel = format!("lock:{}", process_id());
            connection.subscribe(channel).await?;
            Ok::<_, RedisError>(connection)
        };
        Ok(self.connection.get_or_try_init(connect).await?.clone())
    }

    async fn owner(&self, key: &str) -> RedisResult<Owner> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let lock = format!("lock:{key}");
        let [fence, queue] = ["f", "w"].map(|suffix| format!("{{{lock}}}:{suffix}"));
        Ok(Owner {
            connection: self.connection().await?,
            keys: [lock, fence, queue],
            id: format!(
                "{}{:014}",
                process_id(),
                NEXT.fetch_add(1, Ordering::Relaxed)
            ),
        })
    }
}

/// The first 8 characters of this process's owners.
fn process_id() -> String {
    format!("{:08}", process::id())
}

impl Locks for Older {
    type Held = OlderHeld;

    async fn acquire(&self, key: &str, ttl: Duration, wait: Duration) -> Result<OlderHeld, String> {
        let started = Instant::now();
        let owner = self.owner(key).await.map_err(|error| words(&error))?;
        loop {
            let asked = Instant::now();
            let answer = owner.acquire(ttl, !wait.is_zero()).await;
            let remaining = match answer.map_err(|error| words(&error))? {
                Answer::Held(token) => {
                    return Ok(OlderHeld {
                        owner,
                        token,
                        ttl,
                        deadline: asked + ttl,
                    });
                }
                Answer::Waiting(remaining) => remaining,
            };
            let rest = wait.saturating_sub(started.elapsed());
            if rest.is_zero() {
                owner.end().await.map_err(|error| words(&error))?;
                return Err("Busy in time".to_owned());
            }
            let pause = remaining.min(POLL).min(rest);
            // A message that comes before this waits is found by the poll.
            let _ = tokio::time::timeout(pause, self.message.notified()).await;
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
        let made = visit.make(held.token).await;
        held.release().await?;
        Ok(made)
    }

    async fn shutdown(&self) {}
}

/// The answer to an acquire.
enum Answer {
    /// The token.
    Held(u64),
    /// What remains of the lease that is in the way.
    Waiting(Duration),
}

impl Owner {
    async fn acquire(&self, ttl: Duration, queues: bool) -> RedisResult<Answer> {
        let ttl = i64::try_from(ttl.as_millis()).expect("it is short");
        let ttl = if queues { ttl } else { -ttl };
        let mut call = Self::call(ACQUIRE, &self.keys);
        call.arg(self.entry()).arg(ttl);
        let answer: Value = call.query_async(&mut self.connection.clone()).await?;
        match answer {
            Value::Array(parts) => {
                let (remaining, _, _): (i64, i64, Value) =
                    redis::from_redis_value(Value::Array(parts))?;
                let remaining = u64::try_from(remaining).unwrap_or(u64::MAX);
                Ok(Answer::Waiting(Duration::from_millis(
                    remaining.saturating_add(1),
                )))
            }
            grant => {
                let grant: String = redis::from_redis_value(grant)?;
                Ok(Answer::Held(
                    grant[1..].parse().expect("a token is a number"),
                ))
            }
        }
    }

    async fn end(&self) -> RedisResult<i64> {
        let mut call = Self::call(END, &self.keys);
        call.arg(self.entry());
        call.query_async(&mut self.connection.clone()).await
    }

    /// A script with its text each time: the rights of the locks have no SCRIPT LOAD, which `redis::Script` sends.
    fn call(script: &str, keys: &[String]) -> Cmd {
        let mut call = redis::cmd("EVAL");
        call.arg(script).arg(keys.len()).arg(keys);
        call
    }

    /// Calls a script that names the lock alone.
    async fn on_the_lock<T: redis::FromRedisValue>(
        &self,
        script: &str,
        ttl: Option<Duration>,
    ) -> RedisResult<T> {
        let mut call = Self::call(script, &self.keys[..1]);
        call.arg(&self.id);
        if let Some(ttl) = ttl {
            call.arg(u64::try_from(ttl.as_millis()).expect("it is short"));
        }
        call.query_async(&mut self.connection.clone()).await
    }

    fn entry(&self) -> String {
        format!("{} older (pid {})", self.id, process::id())
    }
}

impl Held for OlderHeld {
    fn token(&self) -> u64 {
        self.token
    }

    fn is_valid(&self) -> bool {
        Instant::now() < self.deadline
    }

    async fn stall(&self, time: Duration) -> Result<(), String> {
        wait::block(time);
        std::future::pending().await
    }

    async fn renew(&mut self) -> Result<(), String> {
        let asked = Instant::now();
        let answer = self.owner.on_the_lock(RENEW, Some(self.ttl)).await;
        let renewed: Option<String> = answer.map_err(|error| words(&error))?;
        renewed.ok_or("Lost at the renewal")?;
        self.deadline = asked + self.ttl;
        Ok(())
    }

    async fn downgrade(self) -> Result<Self, String> {
        Err("InvalidOptions it has no readers".to_owned())
    }

    async fn release(self) -> Result<(), String> {
        let released = self.owner.on_the_lock(RELEASE, None).await;
        let mut code: i64 = released.map_err(|error| words(&error))?;
        if code == 2 {
            // A waiter queues.
            code = self.owner.end().await.map_err(|error| words(&error))?;
        }
        match code {
            1 | 2 => Ok(()),
            _ => Err("Lost at the release".to_owned()),
        }
    }
}

fn words(error: &RedisError) -> String {
    format!("Unavailable {error}")
}
