//! Functions that call themselves or each other, and functions of another ABI.

use lock_runtime::{LockError, distributed_lock};

use crate::check::{AppError, inside, locks, locks_blocking, pausing};

type Answer = Result<u8, AppError>;

#[distributed_lock(key = "recursive")]
async fn recursive(n: u8) -> Answer {
    pausing().await;
    match n {
        0 => Ok(0),
        _ => Ok(1 + Box::pin(recursive(n - 1)).await?),
    }
}

#[distributed_lock(key = "recursive blocking")]
fn recursive_blocking(n: u8) -> Answer {
    inside();
    match n {
        0 => Ok(0),
        _ => Ok(1 + recursive_blocking(n - 1)?),
    }
}

#[distributed_lock(key = "above async_recursion")]
#[async_recursion::async_recursion]
async fn above(n: u8) -> Answer {
    pausing().await;
    match n {
        0 => Ok(0),
        _ => Ok(1 + above(n - 1).await?),
    }
}

#[async_recursion::async_recursion]
#[distributed_lock(key = "below async_recursion")]
async fn below(n: u8) -> Answer {
    pausing().await;
    match n {
        0 => Ok(0),
        _ => Ok(1 + below(n - 1).await?),
    }
}

#[async_recursion::async_recursion(?Send)]
#[distributed_lock(key = "below async_recursion:<text>")]
async fn below_with_a_lifetime(text: &str) -> Result<usize, AppError> {
    pausing().await;
    Ok(text.len())
}

#[tokio::test]
async fn recursion() {
    let depth = locks("recursive", async || recursive(2).await);
    assert_eq!(depth.await.unwrap(), 2);
    let depth = locks_blocking("recursive blocking", || recursive_blocking(2));
    assert_eq!(depth.unwrap(), 2);
    let depth = locks("above async_recursion", async || above(2).await);
    assert_eq!(depth.await.unwrap(), 2);
    let depth = locks("below async_recursion", async || below(2).await);
    assert_eq!(depth.await.unwrap(), 2);
    let length = locks("below async_recursion:x", async || {
        below_with_a_lifetime("x").await
    });
    assert_eq!(length.await.unwrap(), 1);
}

#[distributed_lock(key = "outer:<id>")]
async fn outer(id: u8) -> Answer {
    #[distributed_lock(key = "inner:<id>")]
    async fn inner(id: u8) -> Answer {
        pausing().await;
        innermost(id)
    }

    #[distributed_lock(key = "outer:<id>")]
    fn innermost(id: u8) -> Answer {
        inside();
        Ok(id)
    }

    pausing().await;
    inner(id).await
}

#[tokio::test]
async fn functions_in_functions() {
    let id = locks("outer:1", async || outer(1).await);
    assert_eq!(id.await.unwrap(), 1);
}

#[distributed_lock(key = "extern C:<n>", or_else = |_| u8::MAX)]
extern "C-unwind" fn foreign(n: u8) -> u8 {
    inside();
    n
}

#[distributed_lock(key = "extern Rust")]
pub extern "Rust" fn rust() -> Result<u8, LockError> {
    inside();
    Ok(1)
}

#[test]
fn functions_of_another_abi() {
    let pointer: extern "C-unwind" fn(u8) -> u8 = foreign;
    assert_eq!(locks_blocking("extern C:1", || pointer(1)), 1);
    assert_eq!(locks_blocking("extern Rust", rust).unwrap(), 1);
}
