//! Functions that call themselves or each other, and a function with a written ABI.

use lock_runtime::{LockError, distributed_lock};

use super::check::{AppError, assert_locks, at_once, entered, inside, paused, pausing};

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
    paused(text.len()).await
}

#[tokio::test]
async fn recursion() {
    assert_locks!("recursive", recursive(2).await, 2);
    assert_locks!(at_once("recursive blocking"), recursive_blocking(2), 2);
    assert_locks!("above async_recursion", above(2).await, 2);
    assert_locks!("below async_recursion", below(2).await, 2);
    assert_locks!(
        "below async_recursion:x",
        below_with_a_lifetime("x").await,
        1
    );
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
        entered(id)
    }

    pausing().await;
    inner(id).await
}

#[tokio::test]
async fn functions_in_functions() {
    assert_locks!("outer:1", outer(1).await, 1);
}

#[distributed_lock(key = "extern Rust")]
pub extern "Rust" fn rust() -> Result<u8, LockError> {
    entered(1)
}

#[tokio::test]
async fn function_with_a_written_abi() {
    assert_locks!(at_once("extern Rust"), rust(), 1);
}
