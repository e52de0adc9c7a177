//! Type and const parameters, bounds of every kind, `impl Trait` in arguments and results.

use std::fmt::{Debug, Display};
use std::marker::PhantomData;

use lock_runtime::{KeyPart, distributed_lock};

use super::check::{AppError, assert_locks, at_once, entered, locks, paused, pausing};

#[distributed_lock(key = "where:<id>")]
async fn bounded<T, U>(id: &T, other: U) -> Result<U, AppError>
where
    T: KeyPart + ?Sized + Sync,
    U: Clone + Default + PartialEq,
{
    pausing().await;
    if other == U::default() {
        return Err(AppError::Own);
    }
    Ok(other.clone())
}

#[distributed_lock(key = "const:<N>")]
async fn constant<const N: usize, const NAME: char>(items: [u8; N]) -> Result<[u8; N], AppError> {
    paused(items.map(|item| item + NAME as u8)).await
}

#[distributed_lock(key = format!("const blocking:{}", N + 1))]
fn constant_blocking<const N: usize>() -> Result<usize, AppError> {
    entered(N)
}

#[distributed_lock(key = "higher ranked")]
fn higher_ranked<F>(visit: F) -> Result<usize, AppError>
where
    F: for<'a> Fn(&'a str, &'a [u8]) -> &'a str,
{
    entered(visit("text", &[1]).len())
}

#[distributed_lock(key = "impl:<id>")]
async fn opaque(
    id: impl KeyPart + Copy + Display,
    items: impl IntoIterator<Item = impl Into<u64>>,
) -> Result<impl Display + Debug, AppError> {
    pausing().await;
    let sum: u64 = items.into_iter().map(Into::into).sum();
    Ok(format!("{id} {sum}"))
}

#[distributed_lock(key = "async callback")]
async fn async_callback(call: impl AsyncFn(u8) -> u8) -> Result<u8, AppError> {
    paused(call(1).await + call(2).await).await
}

#[distributed_lock(key = "callback once")]
fn callback_once<R>(call: impl FnOnce() -> R) -> Result<R, AppError> {
    entered(call())
}

#[distributed_lock(key = "dyn")]
async fn dynamic(items: &mut dyn Iterator<Item = u8>) -> Result<u8, AppError> {
    pausing().await;
    items.next().ok_or(AppError::Own)
}

struct Store<'a, T, const N: usize>([&'a T; N]);

impl<'a, T: KeyPart + PartialEq, const N: usize> Store<'a, T, N> {
    #[distributed_lock(key = "store:<self.0[0]>:<N>")]
    async fn all<U: ?Sized>(&self, _kind: PhantomData<U>) -> Result<&[&'a T; N], AppError> {
        paused(&self.0).await
    }
}

#[tokio::test]
async fn every_parameter() {
    assert_locks!("where:id", bounded("id", 1_u8).await, 1);
    assert_locks!("const:2", constant::<2, '\x01'>([1, 2]).await, [2, 3]);
    assert_locks!(at_once("const blocking:4"), constant_blocking::<3>(), 3);
    assert_locks!(at_once("higher ranked"), higher_ranked(|text, _| text), 4);
    let outcome = locks("impl:7", async || opaque(7, [1_u8, 2]).await).await;
    assert_eq!(outcome.unwrap().to_string(), "7 3");
    assert_locks!("async callback", async_callback(async |n| n * 2).await, 6);
    assert_locks!(at_once("callback once"), callback_once(|| 1), 1);
    assert_locks!("dyn", dynamic(&mut [1, 2].into_iter()).await, 1);
    let outcome = locks("store:5:2", async || {
        let all = Store([&5, &6]).all::<str>(PhantomData).await?;
        Ok::<_, AppError>(*all[1])
    });
    assert_eq!(outcome.await.unwrap(), 6);
}
