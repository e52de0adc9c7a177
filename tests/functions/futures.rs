//! Functions that return a future: its tail `async` block is what is locked, with whatever stands
//! before it.

use std::future::Future;
use std::pin::Pin;

use lock_runtime::distributed_lock;

use crate::check::{AppError, inside, locks, pausing};

type Answer<T = u8> = Result<T, AppError>;
/// As the `futures` crate has it.
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[distributed_lock(key = "impl:<id>:1")]
fn opaque(id: u8) -> impl Future<Output = Answer> + Send {
    async move {
        pausing().await;
        Ok(id)
    }
}

#[distributed_lock(key = "impl 'a:<id>")]
fn borrowing<'a>(id: &'a str) -> impl Future<Output = Answer<&'a str>> + 'a {
    inside();
    let trimmed = id.trim();
    async move {
        pausing().await;
        Ok(trimmed)
    }
}

#[distributed_lock(key = "Pin<<Box>>:<id>")]
fn pinned(id: u8) -> Pin<Box<dyn Future<Output = Answer>>> {
    Box::pin(async move {
        pausing().await;
        Ok(id)
    })
}

#[distributed_lock(key = "BoxFuture:<id>")]
fn boxed<'a>(id: &'a str, more: u8) -> BoxFuture<'a, Answer<(&'a str, u8)>> {
    let more = more + 1;
    Box::pin(async move {
        pausing().await;
        if more == 0 {
            return Err(AppError::Own);
        }
        Ok((id, more))
    })
}

#[distributed_lock(key = "future of a unit", or_else = |_| ())]
fn unit() -> impl Future<Output = ()> {
    async move { pausing().await }
}

#[tokio::test]
async fn the_block_is_locked() {
    let id = locks("impl:1:1", async || opaque(1).await);
    assert_eq!(id.await.unwrap(), 1);
    let id = locks("impl 'a:x", async || borrowing("x").await);
    assert_eq!(id.await.unwrap(), "x");
    let id = locks("Pin<Box>:1", async || pinned(1).await);
    assert_eq!(id.await.unwrap(), 1);
    let id = locks("BoxFuture:x", async || boxed("x", 1).await);
    assert_eq!(id.await.unwrap(), ("x", 2));
    locks("future of a unit", async || unit().await).await;
}
