//! Syntax that only edition 2024 has.

use lock_runtime::distributed_lock;

use crate::functions::check::{AppError, assert_locks, at_once, inside, locks, pausing};

/// Opaque types capture every lifetime.
#[distributed_lock(key = "captured", or_else = |_| [].iter())]
fn captured(items: &[u8]) -> impl Iterator<Item = &u8> {
    inside();
    items.iter()
}

/// Unless `use<>` opts out.
#[distributed_lock(key = "uncaptured", or_else = |_| 0..0)]
fn uncaptured(items: &[u8]) -> impl Iterator<Item = usize> + use<> {
    inside();
    0..items.len()
}

/// `Future` is in the prelude.
#[allow(clippy::manual_async_fn, reason = "the point of this function")]
#[distributed_lock(key = "future")]
fn future(id: &u8) -> impl Future<Output = Result<&u8, AppError>> {
    async move {
        pausing().await;
        Ok(id)
    }
}

/// A temporary of the tail ends before the locals, and `if let` chains.
#[distributed_lock(key = "tail")]
fn tail(cell: std::cell::RefCell<Vec<u8>>) -> Result<u8, AppError> {
    inside();
    let cell = cell;
    if let Some(first) = cell.borrow().first()
        && let Some(last) = cell.borrow().last()
    {
        return Ok(first + last);
    }
    cell.borrow().first().copied().ok_or(AppError::Own)
}

/// `gen` is a keyword.
#[distributed_lock(key = "name:<r#gen>")]
fn name(r#gen: u8) -> Result<u8, AppError> {
    inside();
    Ok(r#gen)
}

#[tokio::test]
async fn rows_of_this_edition() {
    assert!(
        locks(at_once("captured"), async || captured(&[1, 2]))
            .await
            .eq(&[1, 2])
    );
    let range = locks(at_once("uncaptured"), async || {
        let items = [1, 2];
        uncaptured(&items)
    })
    .await;
    assert!(range.eq([0, 1]));
    let id = locks("future", async || future(&1).await.copied());
    assert_eq!(id.await.unwrap(), 1);
    assert_locks!(at_once("tail"), tail(vec![1, 2].into()), 3);
    assert_locks!(at_once("name:1"), name(1), 1);
}
