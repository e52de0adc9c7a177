//! This project's client.

use lock_runtime::{LockClient, LockClientBuilder, LockGuard};

use super::{Contestant, TTL, WAIT};

#[derive(Clone, Debug)]
pub(crate) struct Ours(pub(crate) LockClient);

impl Ours {
    /// A client with the default options, including the label, but with a longer wait.
    pub(crate) async fn connect(url: &str) -> Ours {
        Ours::with(url, |builder| builder).await
    }

    /// A client with settings.
    pub(crate) async fn with(
        url: &str,
        settings: impl FnOnce(LockClientBuilder) -> LockClientBuilder,
    ) -> Ours {
        let builder = LockClient::builder().url(url).ttl(TTL).wait(WAIT);
        let client = settings(builder).connect().await;
        Ours(client.expect("the server is there"))
    }

    pub(super) async fn acquire_fenced(&self, key: &str) -> (LockGuard, u64) {
        let acquire = self.0.lock(key).fenced().acquire();
        let held = acquire.await.expect("the lock can be acquired");
        let token = held.fencing_token().await;
        let token = token.expect("it came with the lock").get();
        (held, token)
    }
}

impl Contestant for Ours {
    type Held = LockGuard;

    async fn acquire(&self, key: &str) -> LockGuard {
        let acquire = self.0.lock(key).acquire();
        acquire.await.expect("the lock can be acquired")
    }

    async fn release(&self, held: LockGuard) {
        held.release().await.expect("it was held throughout");
    }
}

/// The same client, whose callers request a token with each lock.
#[derive(Clone, Debug)]
pub(crate) struct Fenced(pub(crate) Ours);

impl Contestant for Fenced {
    type Held = LockGuard;

    async fn acquire(&self, key: &str) -> LockGuard {
        self.0.acquire_fenced(key).await.0
    }

    async fn release(&self, held: LockGuard) {
        self.0.release(held).await;
    }
}
