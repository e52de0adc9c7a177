//! The client under test.

use std::future::pending;
use std::time::Duration;

use lock_runtime::{Acquire, LockClient, LockError, LockGuard};
use redis::RedisResult;

use super::locks::{Held, Locks};
use super::mode::Mode;
use super::visit::Visit;
use crate::shares::Share;
use crate::wait;

/// The client under test, and how its calls hold their locks.
#[derive(Clone)]
pub(crate) struct Ours {
    client: LockClient,
    mode: Mode,
}

impl Ours {
    pub(crate) fn new(client: LockClient) -> Self {
        let mode = Mode::default();
        Self { client, mode }
    }

    fn lock(&self, key: &str, ttl: Duration, wait: Duration) -> Acquire {
        // A `+` separates several keys.
        let lock = match key.contains('+') {
            true => self.client.lock_all(key.split('+')),
            false => self.client.lock(key),
        };
        let lock = lock.ttl(ttl).wait(wait);
        match self.mode {
            Mode::Plain => lock,
            Mode::Write => lock.write(),
            Mode::AtLeast(minimum) => lock.hold_at_least(minimum),
            Mode::Share(Share { limit: 0, .. }) => lock.read(),
            Mode::Share(Share { take, limit }) => lock.permits(limit).take(take),
        }
    }
}

impl Locks for Ours {
    type Held = LockGuard;

    fn in_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    fn mode(&self) -> Mode {
        self.mode
    }

    async fn acquire(&self, key: &str, ttl: Duration, wait: Duration) -> Result<LockGuard, String> {
        let acquire = self.lock(key, ttl, wait).acquire();
        acquire.await.map_err(|error| words(&error))
    }

    async fn acquire_all(
        &self,
        keys: [&str; 2],
        ttl: Duration,
        wait: Duration,
    ) -> Result<LockGuard, String> {
        let locks = self.client.lock_all(keys).ttl(ttl).wait(wait);
        locks.await.map_err(|error| words(&error))
    }

    async fn acquire_retained(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
        retain: Duration,
    ) -> Result<LockGuard, String> {
        let lock = self.lock(key, ttl, wait).retain(retain);
        lock.await.map_err(|error| words(&error))
    }

    async fn run(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
        visit: Visit,
    ) -> Result<RedisResult<bool>, String> {
        let acquire = self.lock(key, ttl, wait);
        let body = async |guard: &LockGuard| visit.make(guard.fencing_token().get()).await;
        acquire.run(body).await.map_err(|error| words(&error))
    }

    async fn shutdown(&self) {
        self.client.shutdown().await;
    }
}

impl Held for LockGuard {
    fn token(&self) -> u64 {
        self.fencing_token().get()
    }

    fn is_valid(&self) -> bool {
        LockGuard::is_valid(self)
    }

    async fn stall(&self, time: Duration) -> Result<(), String> {
        let body = async {
            wait::block(time);
            pending().await
        };
        self.run(body).await.map_err(|error| words(&error))
    }

    async fn renew(&mut self) -> Result<(), String> {
        let renewed = LockGuard::renew(self).await;
        renewed.map_err(|error| words(&error))
    }

    async fn downgrade(self) -> Result<Self, String> {
        let downgraded = LockGuard::downgrade(self).await;
        downgraded.map_err(|error| words(&error))
    }

    async fn release(self) -> Result<(), String> {
        let released = LockGuard::release(self).await;
        released.map_err(|error| words(&error))
    }
}

fn words(error: &LockError) -> String {
    format!("{:?} {error}", error.kind())
}
