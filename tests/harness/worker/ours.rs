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
        let lock = self.unfenced(key, ttl, wait);
        // Half of the keys ask for their token with the lock, and half of them after it.
        if comes_with_token(key) {
            lock.fenced()
        } else {
            lock
        }
    }

    fn unfenced(&self, key: &str, ttl: Duration, wait: Duration) -> Acquire {
        // A `+` separates several keys.
        let lock = match key.contains('+') {
            true => self.client.lock_all(key.split('+')),
            false => self.client.lock(key),
        };
        let lock = lock.ttl(ttl).wait(wait);
        match self.mode {
            Mode::Plain => lock,
            Mode::Write => lock.write(),
            Mode::AtLeast(minimum) => lock.min_hold(minimum),
            Mode::Share(Share { limit: 0, .. }) => lock.read(),
            Mode::Share(Share { take, limit }) => lock.permits(limit).take(take),
        }
    }
}

impl Locks for Ours {
    type Held = Holding;

    fn in_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    fn mode(&self) -> Mode {
        self.mode
    }

    async fn acquire(&self, key: &str, ttl: Duration, wait: Duration) -> Result<Holding, String> {
        held(self.lock(key, ttl, wait)).await
    }

    async fn take(&self, key: &str, ttl: Duration, wait: Duration) -> Result<Holding, String> {
        let guard = self.unfenced(key, ttl, wait).acquire().await;
        let guard = guard.map_err(|error| words(&error))?;
        Ok(Holding { guard, token: 0 })
    }

    async fn acquire_fenced(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
    ) -> Result<Holding, String> {
        held(self.unfenced(key, ttl, wait).fenced()).await
    }

    async fn acquire_all(
        &self,
        keys: [&str; 2],
        ttl: Duration,
        wait: Duration,
    ) -> Result<Holding, String> {
        held(self.client.lock_all(keys).ttl(ttl).wait(wait)).await
    }

    async fn acquire_retained(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
        retain: Duration,
    ) -> Result<Holding, String> {
        held(self.lock(key, ttl, wait).retain(retain)).await
    }

    async fn run(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
        visit: Visit,
    ) -> Result<RedisResult<bool>, String> {
        let acquire = self.lock(key, ttl, wait);
        let body = async |guard: &LockGuard| {
            let token = guard.fencing_token().await.map_err(|error| words(&error))?;
            Ok(visit.make(token.get()).await)
        };
        let ran = acquire.run(body).await;
        ran.map_err(|error| words(&error))?
    }

    async fn shutdown(&self) {
        self.client.shutdown().await;
    }
}

/// Whether a worker asks for the token of this key together with the lock, and not after it.
pub(crate) fn comes_with_token(key: &str) -> bool {
    key.bytes().last().is_some_and(|last| last % 2 == 0)
}

/// A lock that is held, and its token.
pub(crate) struct Holding {
    guard: LockGuard,
    token: u64,
}

impl Holding {
    async fn of(guard: Result<LockGuard, LockError>) -> Result<Holding, String> {
        let holding = async {
            let guard = guard?;
            let token = guard.fencing_token().await?.get();
            Ok(Holding { guard, token })
        };
        holding.await.map_err(|error: LockError| words(&error))
    }
}

async fn held(lock: Acquire) -> Result<Holding, String> {
    Holding::of(lock.acquire().await).await
}

impl Held for Holding {
    fn token(&self) -> u64 {
        self.token
    }

    async fn mint(&mut self) -> Result<(), String> {
        let token = self.guard.fencing_token().await;
        self.token = token.map_err(|error| words(&error))?.get();
        Ok(())
    }

    fn is_valid(&self) -> bool {
        self.guard.is_valid()
    }

    async fn stall(&self, time: Duration) -> Result<(), String> {
        let body = async {
            wait::block(time);
            pending().await
        };
        let ran = self.guard.run(body).await;
        ran.map_err(|error| words(&error))
    }

    async fn renew(&mut self) -> Result<(), String> {
        let renewed = self.guard.renew().await;
        renewed.map_err(|error| words(&error))
    }

    async fn downgrade(self) -> Result<Self, String> {
        Holding::of(self.guard.downgrade().await).await
    }

    async fn release(self) -> Result<(), String> {
        let released = self.guard.release().await;
        released.map_err(|error| words(&error))
    }
}

fn words(error: &LockError) -> String {
    format!("{:?} {error}", error.kind())
}
