//! The client under test.

use std::future::pending;
use std::time::Duration;

use lock_runtime::{LockClient, LockError, LockGuard};
use redis::RedisResult;

use super::locks::{Held, Locks};
use super::visit::Visit;
use crate::wait;

impl Locks for LockClient {
    type Held = LockGuard;

    /// A `+` separates several keys.
    async fn acquire(&self, key: &str, ttl: Duration, wait: Duration) -> Result<LockGuard, String> {
        let acquire = match key.contains('+') {
            true => self.lock_all(key.split('+')),
            false => self.lock(key),
        };
        acquire
            .ttl(ttl)
            .wait(wait)
            .acquire()
            .await
            .map_err(|error| words(&error))
    }

    async fn acquire_retained(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
        retain: Duration,
    ) -> Result<LockGuard, String> {
        let lock = self.lock(key).ttl(ttl).wait(wait).retain(retain);
        lock.await.map_err(|error| words(&error))
    }

    async fn run(
        &self,
        key: &str,
        ttl: Duration,
        wait: Duration,
        visit: Visit,
    ) -> Result<RedisResult<bool>, String> {
        let acquire = self.lock(key).ttl(ttl).wait(wait);
        let body = async |guard: &LockGuard| visit.make(guard.fencing_token().get()).await;
        acquire.run(body).await.map_err(|error| words(&error))
    }

    async fn shutdown(&self) {
        LockClient::shutdown(self).await;
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

    async fn release(self) -> Result<(), String> {
        let released = LockGuard::release(self).await;
        released.map_err(|error| words(&error))
    }
}

fn words(error: &LockError) -> String {
    format!("{:?} {error}", error.kind())
}
