//! A stand-in for Redisson: the commands of its `RLock`, as versions 3.5 to 4.7 send them.
//!
//! It waits like Redisson, for a message or until the other lease ends. Each message wakes one
//! waiter. It never polls. Its watchdog renews each third of the lease. It does not reconnect.

use std::collections::HashMap;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, PushInfo, PushKind, RedisError, RedisResult, Value};
use tokio::sync::{Mutex, OnceCell, Semaphore};
use tokio::task::JoinHandle;

use super::locks::{Call, Held, Locks};
use super::plain::words;
use crate::wait::PATIENCE;

macro_rules! lua {
    ($file:literal) => {
        include_str!(concat!("../redisson/", $file))
    };
}

/// The message of an unlock.
const UNLOCKED: &str = "0";

/// The kind of Redisson's lock, and its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `RLock` of version 3.5.
    V3_5,
    /// `RLock` of version 4.7. Since 3.24 an unlock leaves a latch.
    V4_7,
    /// `RFairLock`.
    Fair,
}

#[derive(Clone)]
pub(crate) struct Redisson {
    server: redis::Client,
    version: Version,
    connection: Arc<OnceCell<MultiplexedConnection>>,
    channels: Arc<Channels>,
}

pub(crate) struct RedissonHeld {
    lock: Lock,
    ttl: Duration,
    watchdog: JoinHandle<()>,
}

/// A lock, as one of Redisson's threads sees it.
#[derive(Clone)]
struct Lock {
    version: Version,
    connection: MultiplexedConnection,
    name: String,
    /// The instance and the thread.
    field: String,
}

/// The waiters by channel, with their number.
#[derive(Default)]
struct Channels(Mutex<HashMap<String, (Arc<Semaphore>, usize)>>);

impl Redisson {
    /// A client of the server at `url`.
    pub(crate) fn new(url: &str, version: Version) -> Self {
        let server = redis::Client::open(format!("{url}?protocol=resp3"));
        Self {
            server: server.expect("the URL is well formed"),
            version,
            connection: Arc::default(),
            channels: Arc::default(),
        }
    }

    /// The connection, which also receives messages.
    async fn connection(&self) -> RedisResult<MultiplexedConnection> {
        let connect = || async {
            let (sender, mut messages) = tokio::sync::mpsc::unbounded_channel();
            let channels = Arc::clone(&self.channels);
            tokio::spawn(async move {
                while let Some(message) = messages.recv().await {
                    channels.note(message).await;
                }
            });
            let config = AsyncConnectionConfig::new()
                .set_connection_timeout(Some(PATIENCE))
                .set_response_timeout(Some(PATIENCE))
                .set_push_sender(move |push| sender.send(push).map_err(|_| closed()));
            self.server
                .get_multiplexed_async_connection_with_config(&config)
                .await
        };
        Ok(self.connection.get_or_try_init(connect).await?.clone())
    }

    async fn lock(&self, key: &str) -> RedisResult<Lock> {
        static THREADS: AtomicU64 = AtomicU64::new(1);
        let thread = THREADS.fetch_add(1, Ordering::Relaxed);
        Ok(Lock {
            version: self.version,
            connection: self.connection().await?,
            name: format!("lock:{key}"),
            field: format!("00000000-0000-0000-0000-{:012}:{thread}", process::id()),
        })
    }
}

impl Locks for Redisson {
    type Held = RedissonHeld;

    async fn acquire(&self, call: &Call) -> Result<RedissonHeld, String> {
        let Call { ttl, wait, .. } = *call;
        let lock = self.lock(&call.name).await.map_err(|error| words(&error))?;
        let has_it = match lock.try_lock(ttl, wait).await {
            Ok(None) => Ok(true),
            Ok(Some(_)) if wait.is_zero() => Ok(false),
            Ok(Some(_)) => self.wait(&lock, ttl, wait).await,
            Err(error) => Err(error),
        };
        if has_it.map_err(|error| words(&error))? {
            Ok(RedissonHeld {
                watchdog: tokio::spawn(lock.clone().renew_for_ever(ttl)),
                lock,
                ttl,
            })
        } else {
            Err("Busy in time".to_owned())
        }
    }
}

impl Redisson {
    /// Waits for the lock, subscribed to its channel. Returns whether it was acquired in time.
    async fn wait(&self, lock: &Lock, ttl: Duration, wait: Duration) -> RedisResult<bool> {
        let started = Instant::now();
        let channel = lock.own_channel();
        let latch = self.channels.enter(lock, &channel).await?;
        let has_it = loop {
            let Some(remaining) = lock.try_lock(ttl, wait).await? else {
                break true;
            };
            let rest = wait.saturating_sub(started.elapsed());
            if rest.is_zero() {
                break false;
            }
            if let Ok(permit) = tokio::time::timeout(remaining.min(rest), latch.acquire()).await {
                permit.expect("the latch stays open").forget();
            }
        };
        self.channels.leave(lock, &channel).await?;
        Ok(has_it)
    }
}

impl Channels {
    /// Adds a waiter to a channel. The first one subscribes.
    async fn enter(&self, lock: &Lock, channel: &str) -> RedisResult<Arc<Semaphore>> {
        let mut channels = self.0.lock().await;
        let entry = channels
            .entry(channel.to_owned())
            .or_insert_with(|| (Arc::new(Semaphore::new(0)), 0));
        entry.1 += 1;
        let (latch, waiters) = entry.clone();
        if waiters == 1 {
            // Under the mutex, so that subscriptions keep their order; messages wait for it.
            lock.connection.clone().subscribe(channel).await?;
        }
        Ok(latch)
    }

    /// Removes a waiter from a channel. The last one unsubscribes.
    async fn leave(&self, lock: &Lock, channel: &str) -> RedisResult<()> {
        let mut channels = self.0.lock().await;
        if let Some((_, waiters)) = channels.get_mut(channel) {
            *waiters -= 1;
            if *waiters == 0 {
                channels.remove(channel);
                lock.connection.clone().unsubscribe(channel).await?;
            }
        }
        Ok(())
    }

    /// Wakes one waiter of the channel.
    async fn note(&self, push: PushInfo) {
        if push.kind != PushKind::Message {
            return;
        }
        let Ok((channel, _message)) =
            redis::from_redis_value::<(String, String)>(Value::Array(push.data))
        else {
            return;
        };
        if let Some((latch, _)) = self.0.lock().await.get(&channel) {
            latch.add_permits(1);
        }
    }
}

impl Lock {
    /// None if the lock was acquired; otherwise how long to wait for a message.
    async fn try_lock(&self, ttl: Duration, wait: Duration) -> RedisResult<Option<Duration>> {
        let lease = millis(ttl);
        let remaining: Option<i64> = match self.version {
            Version::V3_5 => {
                self.call(lua!("lock_3_5.lua"), &[], &[&lease, &self.field])
                    .await?
            }
            Version::V4_7 => {
                self.call(lua!("lock_4_7.lua"), &[], &[&lease, &self.field])
                    .await?
            }
            Version::Fair => {
                let keys = [self.beside("queue"), self.beside("timeout")];
                let arguments = [&lease, &self.field, &millis(wait), &wall_clock()];
                self.call(lua!("fair_lock.lua"), &keys, &arguments).await?
            }
        };
        Ok(remaining.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0))))
    }

    /// Whether the lock was this thread's.
    async fn unlock(&self, ttl: Duration) -> RedisResult<bool> {
        let (message, lease) = (UNLOCKED.to_owned(), millis(ttl));
        let freed: Option<i64> = match self.version {
            Version::V3_5 => {
                let arguments = [&message, &lease, &self.field];
                self.call(lua!("unlock_3_5.lua"), &[self.channel()], &arguments)
                    .await?
            }
            Version::V4_7 => {
                static REQUESTS: AtomicU64 = AtomicU64::new(1);
                let request = REQUESTS.fetch_add(1, Ordering::Relaxed);
                let pid = process::id();
                let latch = format!(
                    "redisson_unlock_latch:{}:{pid:016x}{request:016x}",
                    self.tag()
                );
                let arguments = [&message, &lease, &self.field, &"PUBLISH".to_owned(), &lease];
                let keys = [self.channel(), latch.clone()];
                let freed = self.call(lua!("unlock_4_7.lua"), &keys, &arguments).await?;
                redis::cmd("DEL")
                    .arg(latch)
                    .exec_async(&mut self.connection.clone())
                    .await?;
                freed
            }
            Version::Fair => {
                let keys = [self.beside("queue"), self.channel()];
                self.call(lua!("fair_unlock.lua"), &keys, &[&message, &self.field])
                    .await?
            }
        };
        Ok(freed.is_some())
    }

    async fn renew(&self, ttl: Duration) -> RedisResult<bool> {
        self.call(lua!("renew.lua"), &[], &[&millis(ttl), &self.field])
            .await
    }

    async fn renew_for_ever(self, ttl: Duration) {
        loop {
            tokio::time::sleep(ttl / 3).await;
            if !matches!(self.renew(ttl).await, Ok(true)) {
                return;
            }
        }
    }

    /// Sends a script by its source each time: the rights of the locks exclude SCRIPT LOAD, which
    /// `redis::Script` sends.
    async fn call<T: redis::FromRedisValue>(
        &self,
        script: &str,
        keys: &[String],
        arguments: &[&String],
    ) -> RedisResult<T> {
        redis::cmd("EVAL")
            .arg(script)
            .arg(1 + keys.len())
            .arg(&self.name)
            .arg(keys)
            .arg(arguments)
            .query_async(&mut self.connection.clone())
            .await
    }

    /// The hash tag that ends the names of the related keys.
    fn tag(&self) -> String {
        if self.name.contains('{') {
            self.name.clone()
        } else {
            format!("{{{}}}", self.name)
        }
    }

    fn channel(&self) -> String {
        format!("redisson_lock__channel:{}", self.tag())
    }

    /// The channel on which this thread waits.
    fn own_channel(&self) -> String {
        match self.version {
            Version::V3_5 | Version::V4_7 => self.channel(),
            Version::Fair => format!("{}:{}", self.channel(), self.field),
        }
    }

    fn beside(&self, kind: &str) -> String {
        format!("redisson_lock_{kind}:{}", self.tag())
    }
}

impl Held for RedissonHeld {
    fn is_valid(&self) -> bool {
        !self.watchdog.is_finished()
    }

    async fn renew(&mut self) -> Result<(), String> {
        let renewed = self.lock.renew(self.ttl).await;
        if renewed.map_err(|error| words(&error))? {
            Ok(())
        } else {
            Err("Lost at the renewal".to_owned())
        }
    }

    async fn release(self) -> Result<(), String> {
        self.watchdog.abort();
        let unlocked = self.lock.unlock(self.ttl).await;
        if unlocked.map_err(|error| words(&error))? {
            Ok(())
        } else {
            Err("Lost at the release".to_owned())
        }
    }
}

fn millis(time: Duration) -> String {
    time.as_millis().to_string()
}

/// The wall clock in ms, by which a fair lock measures the time in its queue.
#[expect(clippy::disallowed_methods, reason = "as Redisson's fair lock does")]
fn wall_clock() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    millis(now.expect("it is later than 1970"))
}

fn closed() -> RedisError {
    (redis::ErrorKind::Io, "the client is gone").into()
}
