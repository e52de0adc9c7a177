//! Arguments: patterns, generics, lifetimes, conditions.

use std::collections::HashMap;

use lock_runtime::{KeyPart, LockClient, LockError, distributed_lock};

use super::AppError;

type Key = Result<String, LockError>;

struct Path<T>(T);

struct Order {
    id: u64,
    lines: [u8; 3],
    note: String,
}

#[distributed_lock(key = "<id>", client = locks, guard = lock)]
async fn tuple_struct(locks: &LockClient, Path(id): Path<u64>) -> Key {
    Ok(format!("{} {id}", lock.key()))
}

#[distributed_lock(key = "<id>:<first>:<last>", client = locks, guard = lock)]
async fn structure(
    locks: &LockClient,
    Order {
        id,
        lines: [first, .., last],
        ref note,
    }: Order,
) -> Key {
    Ok(format!("{} {id}{first}{last}{note}", lock.key()))
}

#[distributed_lock(key = "<a>:<b>:<c>", client = locks, guard = lock)]
fn nested(locks: &LockClient, (a, (b, &c)): (u8, (u8, &u8))) -> Key {
    Ok(format!("{} {}", lock.key(), a + b + c))
}

#[distributed_lock(key = "<x>", client = locks, guard = lock)]
fn either(locks: &LockClient, (Ok(x) | Err(x)): Result<u8, u8>) -> Key {
    Ok(format!("{} {x}", lock.key()))
}

#[distributed_lock(key = "<whole.id>:<id>", client = locks, guard = lock)]
fn bound(locks: &LockClient, whole @ &Order { id, .. }: &Order) -> Key {
    Ok(format!("{} {id}{}", lock.key(), whole.note))
}

#[distributed_lock(key = "<n>:<r#type>", client = locks, guard = lock)]
async fn mutable(locks: &LockClient, mut n: u8, r#type: &str) -> Key {
    n += 1;
    Ok(format!("{} {n}{type}", lock.key(), type = r#type))
}

#[distributed_lock(key = "<größe>", client = locks, guard = lock)]
async fn unicode(locks: &LockClient, größe: u8) -> Key {
    Ok(format!("{} {größe}", lock.key()))
}

#[distributed_lock(key = "<id>", client = locks, guard = lock)]
async fn conditional(
    locks: &LockClient,
    #[cfg(not(debug_assertions))] absent: u8,
    #[cfg(any(debug_assertions, not(debug_assertions)))] id: u8,
    _: (),
) -> Key {
    #[cfg(not(debug_assertions))]
    let _ = absent;
    Ok(format!("{} {id}", lock.key()))
}

#[distributed_lock(key = "inner", client = locks, guard = lock)]
async fn inner_attributes(locks: &LockClient) -> Key {
    //! Documents itself.
    #![allow(unused_variables)]
    let unused = 1;
    Ok(lock.key().to_owned())
}

#[tokio::test]
async fn every_pattern() {
    let locks = LockClient::memory();
    let order = || Order {
        id: 7,
        lines: [1, 2, 3],
        note: "n".into(),
    };
    assert_eq!(tuple_struct(&locks, Path(4)).await.unwrap(), "4 4");
    assert_eq!(structure(&locks, order()).await.unwrap(), "7:1:3 713n");
    assert_eq!(nested(&locks, (1, (2, &3))).unwrap(), "1:2:3 6");
    assert_eq!(either(&locks, Err(3)).unwrap(), "3 3");
    assert_eq!(bound(&locks, &order()).unwrap(), "7:7 7n");
    assert_eq!(mutable(&locks, 1, "t").await.unwrap(), "1:t 2t");
    assert_eq!(unicode(&locks, 3).await.unwrap(), "3 3");
    #[cfg(debug_assertions)]
    assert_eq!(conditional(&locks, 5, ()).await.unwrap(), "5 5");
    assert_eq!(inner_attributes(&locks).await.unwrap(), "inner");
}

#[distributed_lock(key = "<id>:<N>", client = locks)]
async fn generic<'a, T, const N: usize>(
    locks: &LockClient,
    id: &'a T,
    items: [u8; N],
    visit: impl for<'b> Fn(&'b u8) -> &'b u8 + 'a,
) -> Result<(&'a T, u8), AppError>
where
    T: KeyPart + ?Sized + Sync,
{
    Ok((id, items.iter().map(|item| *visit(item)).sum()))
}

#[distributed_lock(key = "elided", client = locks)]
fn elided<'a>(
    locks: &LockClient,
    map: &'a mut HashMap<u8, String>,
) -> Result<&'a mut String, AppError> {
    map.get_mut(&1).ok_or(AppError::Own)
}

#[distributed_lock(key = "lazy", client = locks, or_else = |error| panic!("{error}"))]
fn lazy<'a>(locks: &LockClient, items: &'a [u8]) -> impl Iterator<Item = u8> + use<'a> {
    items.iter().map(|item| item * 2)
}

#[distributed_lock(key = "closure", client = locks, or_else = |error| panic!("{error}"))]
fn closure<'a>(locks: &LockClient, text: &'a str) -> Box<dyn Fn() -> usize + 'a> {
    Box::new(move || text.len())
}

#[distributed_lock(key = "callback", client = locks)]
async fn callback(locks: &LockClient, call: impl AsyncFn(u8) -> u8) -> Result<u8, AppError> {
    Ok(call(1).await + call(2).await)
}

#[tokio::test]
async fn generics_and_lifetimes() {
    let locks = LockClient::memory();
    let (id, sum) = generic(&locks, "a", [1, 2], |item| item).await.unwrap();
    assert_eq!((id, sum), ("a", 3));
    let mut map = HashMap::from([(1, String::from("x"))]);
    elided(&locks, &mut map).unwrap().push('y');
    assert_eq!(map[&1], "xy");
    assert_eq!(lazy(&locks, &[1, 2]).collect::<Vec<_>>(), [2, 4]);
    assert_eq!(closure(&locks, "abc")(), 3);
    assert_eq!(callback(&locks, async |n| n * 2).await.unwrap(), 6);
}

#[distributed_lock(key = "level:<n>", client = locks)]
async fn recursive(locks: &LockClient, n: u8) -> Result<u8, AppError> {
    match n {
        0 => Ok(0),
        _ => Ok(1 + Box::pin(recursive(locks, n - 1)).await?),
    }
}

#[distributed_lock(key = "level", client = locks, or_else = |_| u8::MAX)]
extern "C" fn reentrant(locks: &LockClient, n: u8) -> u8 {
    match n {
        0 => 0,
        _ => 1 + reentrant(locks, n - 1),
    }
}

#[tokio::test]
async fn recursion_and_functions_in_functions() {
    #[distributed_lock(key = "outer", client = locks)]
    async fn outer(locks: &LockClient) -> Result<u8, AppError> {
        #[distributed_lock(key = "inner", client = locks)]
        async fn inner(locks: &LockClient) -> Result<u8, AppError> {
            Ok(1)
        }
        inner(locks).await
    }

    let locks = LockClient::memory();
    assert_eq!(recursive(&locks, 3).await.unwrap(), 3);
    assert_eq!(reentrant(&locks, 3), 3);
    assert_eq!(outer(&locks).await.unwrap(), 1);
}
