//! Arguments that are destructured.

use lock_runtime::distributed_lock;

use super::check::{AppError, assert_locks, at_once, entered, paused, pausing};

type Sum = Result<u32, AppError>;

/// Like axum's extractors.
struct Path<T>(T);

#[derive(Clone)]
struct Order {
    id: u32,
    lines: [u32; 3],
    note: String,
}

#[distributed_lock(key = "extractor:<id>")]
async fn extractor(Path(id): Path<u32>) -> Sum {
    paused(id).await
}

#[distributed_lock(key = "extractors:<shop>/<id>")]
async fn extractors(Path((shop, id)): Path<(&str, u32)>, Path(more): Path<u32>) -> Sum {
    paused(shop.len() as u32 + id + more).await
}

#[distributed_lock(key = "structure:<id>:<last>")]
async fn structure(
    Order {
        id,
        lines: [first, .., last],
        note: ref text,
    }: Order,
) -> Sum {
    paused(id + first + last + text.len() as u32).await
}

#[distributed_lock(key = "rest:<id>")]
fn rest(Order { id, .. }: Order) -> Sum {
    entered(id)
}

#[distributed_lock(key = "nested:<a>:<b>:<c>")]
async fn nested((a, (b, [c, _])): (u32, (u32, [u32; 2]))) -> Sum {
    paused(a + b + c).await
}

#[distributed_lock(key = "slice:<first>")]
fn slice([first, rest @ .., last]: &[u32; 4]) -> Sum {
    entered(first + last + rest.iter().sum::<u32>())
}

#[distributed_lock(key = "reference:<n>")]
async fn reference(&n: &u32, &mut m: &mut u32) -> Sum {
    paused(n + m).await
}

#[distributed_lock(key = "either:<x>")]
async fn either((Ok(x) | Err(x)): Result<u32, u32>) -> Sum {
    paused(x).await
}

#[distributed_lock(key = "bound:<whole.id>:<id>")]
fn bound(whole @ &Order { id, .. }: &Order) -> Sum {
    entered(id + whole.lines[2])
}

#[distributed_lock(key = "mut:<n>")]
async fn mutable(mut n: u32, (mut m, ref mut o): (u32, u32)) -> Sum {
    pausing().await;
    n += 1;
    m += 1;
    *o += 1;
    Ok(n + m + *o)
}

#[distributed_lock(key = "raw:<r#type>:<r#match.id>")]
async fn raw(r#type: u32, r#match: &Order) -> Sum {
    paused(r#type + r#match.id).await
}

#[distributed_lock(key = "unnamed")]
async fn unnamed(_: u32, _named: u32, (_, n): (u32, u32)) -> Sum {
    paused(n).await
}

#[distributed_lock(key = "conditional:<id>")]
async fn conditional(
    Order {
        id,
        #[cfg(any())]
        absent,
        #[cfg_attr(all(), cfg(any()))]
            absent_too: Absent { _absent, .. },
        #[cfg(any(unix, not(unix)))]
            lines: [first, ..],
        ..
    }: Order,
) -> Sum {
    #[cfg(any())]
    drop(absent);
    paused(id + first).await
}

#[tokio::test]
async fn every_pattern() {
    let order = Order {
        id: 7,
        lines: [1, 2, 3],
        note: "note".into(),
    };
    assert_locks!("extractor:1", extractor(Path(1)).await, 1);
    assert_locks!(
        "extractors:north/1",
        extractors(Path(("north", 1)), Path(2)).await,
        8
    );
    assert_locks!("structure:7:3", structure(order.clone()).await, 15);
    assert_locks!("conditional:7", conditional(order.clone()).await, 8);
    assert_locks!(at_once("rest:7"), rest(order.clone()), 7);
    assert_locks!("nested:1:2:3", nested((1, (2, [3, 4]))).await, 6);
    assert_locks!(at_once("slice:1"), slice(&[1, 2, 3, 4]), 10);
    assert_locks!("reference:1", reference(&1, &mut 2).await, 3);
    assert_locks!("either:1", either(Err(1)).await, 1);
    assert_locks!(at_once("bound:7:7"), bound(&order), 10);
    assert_locks!("mut:1", mutable(1, (2, 3)).await, 9);
    assert_locks!("raw:1:7", raw(1, &order).await, 8);
    assert_locks!("unnamed", unnamed(1, 2, (3, 4)).await, 4);
}
