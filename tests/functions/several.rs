//! Functions that lock several keys: each key is held while the body runs.

use std::future::Future;

use lock_runtime::{LockKey, distributed_lock};

use crate::check::{AppError, inside, locks, locks_blocking, pausing};

type Sum = Result<u32, AppError>;

struct Account {
    id: u32,
    owner: String,
}

#[distributed_lock(keys = ["several:<from>", "several:<to>"])]
async fn templates(from: u32, to: u32) -> Sum {
    pausing().await;
    Ok(from + to)
}

#[distributed_lock(keys = ["several blocking:<from.id>", "several blocking:<to.owner>"])]
fn templates_blocking(from: &Account, to: &mut Account) -> Sum {
    inside();
    to.owner.clear();
    Ok(from.id + to.id)
}

#[distributed_lock(keys = ["several mixed:<id>", key, LockKey::from(format!("several mixed {id}"))])]
async fn mixed(id: u32, key: String) -> Sum {
    pausing().await;
    Ok(id)
}

#[distributed_lock(keys = accounts.iter().map(|account| format!("several list {}", account.id)))]
async fn list(accounts: &[Account]) -> Sum {
    pausing().await;
    Ok(accounts.iter().map(|account| account.id).sum())
}

#[distributed_lock(keys = keys)]
fn moved<'k, I: IntoIterator<Item = &'k str>>(keys: I) -> Sum {
    inside();
    Ok(1)
}

#[distributed_lock(keys = ["several future:<from>", "several future:<to>"])]
fn future(from: u32, to: u32) -> impl Future<Output = Sum> + Send {
    async move {
        pausing().await;
        Ok(from + to)
    }
}

impl Account {
    #[distributed_lock(keys = ["several method:<self.id>", self.owner.as_str(), "several method:<other>"])]
    async fn method(&mut self, other: u32) -> Result<&mut u32, AppError> {
        pausing().await;
        self.id += other;
        Ok(&mut self.id)
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
        let sum = locks(key, async || templates(2, 1).await).await;
        assert_eq!(sum.unwrap(), 3);
    }
    for key in ["several blocking:1", "several blocking:owner-2"] {
        let sum = locks_blocking(key, || {
            let [from, mut to] = accounts();
            templates_blocking(&from, &mut to)
        });
        assert_eq!(sum.unwrap(), 3);
    }
    for key in ["several mixed:3", "several mixed", "several mixed 3"] {
        let sum = locks(key, async || mixed(3, "several mixed".to_owned()).await).await;
        assert_eq!(sum.unwrap(), 3);
    }
    for key in ["several list 1", "several list 2"] {
        let sum = locks(key, async || list(&accounts()).await).await;
        assert_eq!(sum.unwrap(), 3);
    }
    for key in ["several moved 1", "several moved 2"] {
        let sum = locks_blocking(key, || moved(["several moved 2", "several moved 1"]));
        assert_eq!(sum.unwrap(), 1);
    }
    for key in ["several future:1", "several future:2"] {
        let sum = locks(key, async || future(2, 1).await).await;
        assert_eq!(sum.unwrap(), 3);
    }
    for key in ["several method:1", "owner-1", "several method:2"] {
        let call = async || {
            let [mut account, _] = accounts();
            account.method(2).await.map(|id| *id)
        };
        assert_eq!(locks(key, call).await.unwrap(), 3);
    }
}
