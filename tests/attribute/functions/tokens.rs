//! `token = …` in functions of every kind. Here each lock comes with a token; `promise/conformance/tokens` has locks
//! that do not.

use std::future::Future;
use std::pin::Pin;

use lock_runtime::{FencingToken, distributed_lock};

use super::check::{AppError, assert_locks, at_once, entered, inside, locks, pausing};

type Answer<T = ()> = Result<T, AppError>;
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The token is a number that may be moved and kept.
fn is_a_token(token: FencingToken) {
    let kept: Box<dyn Fn() -> FencingToken + Send + 'static> = Box::new(move || token);
    assert!(kept().get() > 0);
}

#[distributed_lock(key = "token:<id>", token = token)]
async fn asynchronous(id: u8) -> Answer<u8> {
    is_a_token(token);
    pausing().await;
    is_a_token(token);
    Ok(id)
}

#[distributed_lock(key = "token blocking:<id>", token = token)]
fn blocking(id: u8) -> Answer<u8> {
    inside();
    is_a_token(token);
    Ok(id)
}

#[distributed_lock(key = "token and guard", token = token, guard = held)]
async fn beside_the_guard() -> Answer {
    pausing().await;
    assert_eq!(held.fencing_token().await?, token);
    Ok(())
}

/// The statements before the block are under the lock, too.
#[distributed_lock(key = "token of a boxed future:<id>", token = token)]
fn boxed<'a>(id: &'a str) -> BoxFuture<'a, Answer<&'a str>> {
    let before = token;
    Box::pin(async move {
        pausing().await;
        assert_eq!(token, before);
        Ok(id)
    })
}

#[distributed_lock(key = "token with an alternative", token = token, or_else = |_| 0)]
async fn with_an_alternative() -> u64 {
    pausing().await;
    token.get()
}

#[distributed_lock(keys = ["token:1 of two", "token:2 of two"], token = r#type)]
async fn of_several() -> Answer {
    pausing().await;
    is_a_token(r#type);
    Ok(())
}

struct Shop(u8);

#[async_trait::async_trait]
trait Writes {
    async fn write(&self, text: &str) -> Answer<String>;
}

#[async_trait::async_trait]
impl Writes for Shop {
    #[distributed_lock(key = "token in a trait:<self.0>:<text>", token = token)]
    async fn write(&self, text: &str) -> Answer<String> {
        pausing().await;
        is_a_token(token);
        Ok(text.to_owned())
    }
}

macro_rules! made {
    ($name:ident, $token:ident) => {
        #[distributed_lock(key = "token of a macro", token = $token)]
        async fn $name() -> Answer {
            pausing().await;
            is_a_token($token);
            Ok(())
        }
    };
}
made!(made_with_a_name, token);

#[distributed_lock(key = "token in a text", token = token)]
fn in_a_text() -> Answer<usize> {
    entered(format!("{token:>20}").len())
}

/// An async block in a function that blocks.
#[distributed_lock(key = "token of a block", guard = held)]
fn in_a_block_of_its_own() -> Answer {
    inside();
    let token = ends_at_once(async { held.fencing_token().await })?;
    assert_eq!(held.fencing_token_blocking()?, token);
    Ok(())
}

/// Runs a future that ends at its first poll.
fn ends_at_once<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(output) => output,
        std::task::Poll::Pending => panic!("a lock in this process has its token"),
    }
}

/// A leading underscore allows an unused token.
#[distributed_lock(key = "unused token", token = _token)]
fn unused() -> Answer {
    entered(())
}

#[tokio::test]
async fn tokens() {
    assert_locks!("token:1", asynchronous(1).await, 1);
    assert_locks!(at_once("token blocking:1"), blocking(1), 1);
    assert_locks!("token and guard", beside_the_guard().await, ());
    assert_locks!("token of a boxed future:x", boxed("x").await, "x");
    let token = locks("token with an alternative", async || {
        with_an_alternative().await
    });
    assert!(token.await > 0);
    assert_locks!("token:1 of two", of_several().await, ());
    assert_locks!("token in a trait:7:x", Shop(7).write("x").await, "x");
    assert_locks!("token of a macro", made_with_a_name().await, ());
    assert_locks!(at_once("token in a text"), in_a_text(), 20);
    assert_locks!(at_once("token of a block"), in_a_block_of_its_own(), ());
    assert_locks!(at_once("unused token"), unused(), ());
}
