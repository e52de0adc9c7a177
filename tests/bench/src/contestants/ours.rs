//! This project's client.

use lock_runtime::{LockClient, LockClientBuilder, LockGuard};

use super::{Contestant, TTL, WAIT};

#[derive(Clone, Debug)]
pub(crate) struct Ours(pub(crate) LockClient);

impl Ours {
    /// A client with the default options, including the label; only the wait is longer.
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
}

impl Contestant for Ours {
    type Held = LockGuard;

    async fn acquire(&self, key: &str) -> LockGuard {
        let acquire = self.0.lock(key).acquire();
        acquire.await.expect("the lock can be had")
    }

    async fn release(&self, held: LockGuard) {
        held.release().await.expect("it was held throughout");
    }

    fn token(held: &LockGuard) -> u64 {
        held.fencing_token().await.unwrap().get()
    }
}
