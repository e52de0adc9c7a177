//! An aspect around a method, with the key and the expiry in its annotation. Common versions use the
//! thread's id as the owner. They take a lock that is held for longer than a "safety time" away from
//! its holder.

use std::time::Duration;

use lock_runtime::distributed_lock;
use tokio::sync::Barrier;

use super::{LONG, LockClient, LockError, RedisServer, client, ms, soon};

struct Account {
    locks: LockClient,
}

impl Account {
    fn new(server: &RedisServer) -> Account {
        let locks = client(server.url());
        Account { locks }
    }

    #[distributed_lock(key = "account:<id>", ttl = "5s", wait = wait, client = self.locks)]
    async fn book<R>(
        &self,
        id: u64,
        wait: Duration,
        body: impl AsyncFnOnce() -> R,
    ) -> Result<R, LockError> {
        Ok(body().await)
    }
}

/// Every task of a current-thread runtime has the same thread id.
#[tokio::test]
async fn two_calls_on_one_thread_are_two_owners() {
    let server = RedisServer::start();
    let account = Account::new(&server);
    let first = account.book(1, LONG, async || {
        let second = account.locks.lock("account:1").wait(ms(0)).acquire();
        tokio::spawn(second).await.unwrap().unwrap_err()
    });
    assert!(first.await.unwrap().is_busy());
}

/// Another caller's attempt is made in the body, later than the annotation's expiry.
#[tokio::test]
async fn a_body_that_takes_longer_than_its_expiry_keeps_its_lock() {
    let server = RedisServer::start();
    let (account, thief) = (Account::new(&server), Account::new(&server));
    let work = account.book(1, ms(0), async || {
        tokio::time::sleep(ms(5_500)).await;
        thief.book(1, ms(0), async || ()).await
    });
    let theft = work.await.expect("it was held throughout");
    assert!(theft.unwrap_err().is_busy());
}

#[tokio::test]
async fn another_argument_is_another_lock() {
    let server = RedisServer::start();
    let account = Account::new(&server);
    let meet = Barrier::new(2);
    let book = |id| account.book(id, ms(0), async || meet.wait().await.is_leader());
    let (one, other) = soon(async { tokio::join!(book(1), book(2)) }).await;
    assert!(one.unwrap() != other.unwrap(), "both were inside at once");
}
