//! Functions that lock several keys: each key is held while the body runs.

use std::future::Future;

use lock_runtime::distributed_lock;

use super::check::{AppError, assert_locks, at_once, inside, locks, paused, pausing};

type Sum = Result<u32, AppError>;

struct Account {
    id: u32,
    owner: String,
}

#[distributed_lock(keys = ["several:<from>", "several:<to>"])]
async fn templates(from: u32, to: u32) -> Sum {
    paused(from + to).await
}

#[distributed_lock(keys = ["several blocking:<from.id>", "several blocking:<to.owner>"])]
fn templates_blocking(from: &Account, to: &mut Account) -> Sum {
    inside();
    to.owner.clear();
    Ok(from.id + to.id)
}

#[distributed_lock(keys = ["several future:<from>", "several future:<to>"])]
fn future((from, to): (u32, u32)) -> impl Future<Output = Sum> + Send {
    async move { paused(from + to).await }
}

impl Account {
    #[distributed_lock(keys = ["several method:<self.id>", self.owner.as_str(), "several method:<other>"])]
    async fn method(&mut self, other: u32) -> Result<&mut u32, AppError> {
        pausing().await;
        self.id += other;
        Ok(&mut self.id)
    }
}

trait Transfers {
    fn from(&self) -> &Account;

    #[distributed_lock(keys = ["several default:<self.from().id>", self.from().owner.clone()])]
    async fn default_body(&self) -> Sum {
        paused(self.from().id).await
    }
}

impl Transfers for Account {
    fn from(&self) -> &Account {
        self
    }
}

#[async_trait::async_trait]
trait Boxed {
    async fn boxed(&self, to: u32) -> Sum;
}

#[async_trait::async_trait]
impl Boxed for Account {
    #[distributed_lock(keys = ["several boxed:<self.id>", format!("several boxed {}", self.id + to)])]
    async fn boxed(&self, to: u32) -> Sum {
        paused(self.id + to).await
    }
}

fn accounts() -> [Account; 2] {
    [1, 2].map(|id| Account {
        id,
        owner: format!("owner-{id}"),
    })
}

#[tokio::test]
async fn each_key_is_held() {
    for key in ["several:1", "several:2"] {
        assert_locks!(key, templates(2, 1).await, 3);
    }
    for key in ["several blocking:1", "several blocking:owner-2"] {
        let call = async || {
            let [from, mut to] = accounts();
            templates_blocking(&from, &mut to)
        };
        assert_eq!(locks(at_once(key), call).await.unwrap(), 3);
    }
    for key in ["several future:1", "several future:2"] {
        assert_locks!(key, future((2, 1)).await, 3);
    }
    for key in ["several method:1", "owner-1", "several method:2"] {
        let call = async || {
            let [mut account, _] = accounts();
            account.method(2).await.map(|id| *id)
        };
        assert_eq!(locks(key, call).await.unwrap(), 3);
    }
    let [account, _] = accounts();
    for key in ["several default:1", "owner-1"] {
        assert_locks!(key, account.default_body().await, 1);
    }
    for key in ["several boxed:1", "several boxed 3"] {
        assert_locks!(key, account.boxed(2).await, 3);
    }
}
