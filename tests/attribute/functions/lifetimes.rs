//! Borrowed arguments and results.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lock_runtime::distributed_lock;

use super::check::{AppError, assert_locks, at_once, entered, inside, locks, paused, pausing};

#[distributed_lock(key = "elided:<*id>")]
async fn elided(id: &u8) -> Result<&u8, AppError> {
    paused(id).await
}

#[distributed_lock(key = "named:<id>")]
async fn named<'a, 'b>(id: &'a str, _other: &'b str) -> Result<&'a str, AppError>
where
    'b: 'a,
{
    paused(id).await
}

#[distributed_lock(key = "mutable")]
fn mutable(map: &mut BTreeMap<u8, String>) -> Result<&mut String, AppError> {
    inside();
    map.get_mut(&1).ok_or(AppError::Own)
}

#[distributed_lock(key = "mutable async")]
async fn mutable_async(items: &mut [u8]) -> Result<&mut u8, AppError> {
    pausing().await;
    items.first_mut().ok_or(AppError::Own)
}

#[distributed_lock(key = "reborrowed")]
async fn reborrowed(items: &mut Vec<u8>) -> Result<&mut Vec<u8>, AppError> {
    pausing().await;
    items.push(1);
    items.retain(|item| *item > 0);
    Ok(items)
}

#[distributed_lock(key = "cow", or_else = |error| error.to_string().into())]
fn cow(text: &str) -> Cow<'_, str> {
    inside();
    match text.trim() {
        "" => "nothing".to_owned().into(),
        text => text.into(),
    }
}

#[distributed_lock(key = "boxed closure", or_else = |_| Box::new(|| 0))]
fn closure(text: &str) -> Box<dyn Fn() -> usize + '_> {
    inside();
    Box::new(move || text.len())
}

#[distributed_lock(key = "lazy", or_else = |_| [].iter())]
fn lazy<'a>(items: &'a [u8]) -> impl Iterator<Item = &'a u8> + 'a {
    inside();
    items.iter()
}

#[distributed_lock(key = "named capture:<other>", or_else = |_| [].iter())]
fn captured<'a, 'b>(items: &'a [u8], other: &'b str) -> impl Iterator<Item = &'a u8> + use<'a> {
    inside();
    items.iter()
}

#[distributed_lock(key = "lazy result")]
fn lazy_result<'a>(items: &'a [u8]) -> Result<impl DoubleEndedIterator<Item = u8> + 'a, AppError> {
    entered(items.iter().map(|item| item * 2))
}

#[distributed_lock(key = "lazy async")]
async fn lazy_async<'a>(items: &'a [u8]) -> Result<impl Iterator<Item = u8> + 'a, AppError> {
    paused(items.iter().map(|item| item * 2)).await
}

#[distributed_lock(key = "static")]
async fn unbounded(text: &'static str) -> Result<&'static str, AppError> {
    paused(text).await
}

#[tokio::test]
async fn borrowed_arguments_may_be_returned() {
    let id = 7;
    assert_locks!("elided:7", elided(&id).await.copied(), 7);
    let text = String::from("text");
    assert_locks!("named:text", named(&text, &text).await, "text");

    let mut map = BTreeMap::from([(1, String::new())]);
    let set = async || mutable(&mut map).map(|it| *it = "x".to_owned());
    locks(at_once("mutable"), set).await.unwrap();
    assert_eq!(map[&1], "x");
    let mut items = [1, 2];
    let add = async || mutable_async(&mut items).await.map(|item| *item += 1);
    locks("mutable async", add).await.unwrap();
    assert_eq!(items, [2, 2]);
    let mut items = vec![0];
    let push = async || reborrowed(&mut items).await.map(|items| items.push(2));
    locks("reborrowed", push).await.unwrap();
    assert_eq!(items, [1, 2]);

    assert_eq!(locks(at_once("cow"), async || cow(" a ")).await, "a");
    let closure = locks(at_once("boxed closure"), async || closure("abc")).await;
    assert_eq!(closure(), 3);
    assert!(
        locks(at_once("lazy"), async || lazy(&[1, 2]))
            .await
            .eq(&[1, 2])
    );
    let call = async || captured(&[1, 2], &String::from("x"));
    assert!(locks(at_once("named capture:x"), call).await.eq(&[1, 2]));
    let doubled = locks(at_once("lazy result"), async || lazy_result(&[1, 2])).await;
    assert!(doubled.unwrap().rev().eq([4, 2]));
    let doubled = locks("lazy async", async || lazy_async(&[1, 2]).await).await;
    assert!(doubled.unwrap().eq([2, 4]));
    assert_locks!("static", unbounded("text").await, "text");
}
