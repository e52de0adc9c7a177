//! Syntax that differs between edition 2021 and 2024.

use lock_runtime::distributed_lock;

use crate::functions::check::{AppError, assert_locks, at_once, inside, locks};

/// Opaque types capture no lifetime implicitly.
#[distributed_lock(key = "uncaptured", or_else = |_| 0..0)]
fn uncaptured(items: &[u8]) -> impl Iterator<Item = usize> {
    inside();
    0..items.len()
}

/// A temporary of the tail outlives the locals.
#[distributed_lock(key = "tail")]
fn tail(cell: std::cell::RefCell<Vec<u8>>) -> Result<usize, AppError> {
    inside();
    let length = cell.borrow().len();
    Ok(length)
}

/// `gen` is an ordinary name.
#[distributed_lock(key = "name:<gen>")]
fn name(gen: u8) -> Result<u8, AppError> {
    inside();
    Ok(gen)
}

#[tokio::test]
async fn rows_of_this_edition() {
    let range = locks(at_once("uncaptured"), async || {
        let items = [1, 2];
        uncaptured(&items)
    })
    .await;
    assert!(range.eq([0, 1]));
    assert_locks!(at_once("tail"), tail(vec![1].into()), 1);
    assert_locks!(at_once("name:1"), name(1), 1);
}
