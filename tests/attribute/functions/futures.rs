//! Functions that return a future: the lock covers the `async` block at the tail, with the statements
//! before it.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use lock_runtime::distributed_lock;
use tracing::Instrument as _;

use super::check::{AppError, assert_locks, at_once, inside, locks, paused, pausing};

type Answer<T = u8> = Result<T, AppError>;
/// Like the alias in the `futures` crate.
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[distributed_lock(key = "impl:<id>:1")]
fn opaque(id: u8) -> impl Future<Output = Answer> + Send {
    async move { paused(id).await }
}

#[distributed_lock(key = "impl 'a:<id>")]
fn borrowing<'a>(id: &'a str) -> impl Future<Output = Answer<&'a str>> + 'a {
    inside();
    let trimmed = id.trim();
    async move { paused(trimmed).await }
}

#[distributed_lock(key = "Pin<<Box>>:<id>")]
fn pinned(id: u8) -> Pin<Box<dyn Future<Output = Answer>>> {
    Box::pin(async move { paused(id).await })
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

/// Not `Sync`, so a future that borrows it is not `Send`.
struct Shop(Cell<u8>);

impl Shop {
    /// In the shape of `tower::Service::call`.
    #[distributed_lock(key = "static:<id>")]
    fn call(&mut self, id: u8) -> BoxFuture<'static, Answer> {
        Box::pin(async move { paused(id).await })
    }

    #[distributed_lock(key = "Send:<id>")]
    fn not_sync(&self, id: u8) -> impl Future<Output = Answer> + Send {
        async move { paused(id).await }
    }

    #[distributed_lock(key = "use:<id>")]
    fn captures_nothing(&self, id: u8) -> impl Future<Output = Answer> + use<> {
        async move { paused(id).await }
    }

    /// Only the statement before the block uses the receiver, and needs it under the lock.
    #[distributed_lock(key = "before:<id>")]
    fn before(&mut self, id: u8) -> impl Future<Output = Answer> + '_ {
        self.0.set(id);
        inside();
        async move { paused(id).await }
    }
}

#[distributed_lock(key = "ignored:<id>")]
fn ignored(_shop: &Shop, id: u8) -> BoxFuture<'static, Answer> {
    Box::pin(async move { paused(id).await })
}

/// A name that hides a future, and a name that falsely suggests one.
type Shipping = Pin<Box<dyn Future<Output = Answer> + Send>>;
type Borrowed<'a> = Pin<Box<dyn Future<Output = Answer<&'a str>> + 'a>>;
type DbFuture<'a, T> = BoxFuture<'a, Answer<T>>;
struct NearFuture(u8);

#[distributed_lock(key = "alias:<id>")]
fn alias(id: u8) -> Shipping {
    inside();
    Box::pin(async move {
        pausing().await;
        if id == 0 {
            return Err(AppError::Own);
        }
        Ok(id)
    })
}

#[distributed_lock(key = "alias 'a:<id>")]
fn borrowed_alias(id: &str) -> Borrowed<'_> {
    Box::pin(async move { paused(id).await })
}

/// The argument of the type is not the future's output.
#[distributed_lock(key = "alias of a result:<id>")]
fn alias_of_a_result(id: &u8) -> DbFuture<'_, u8> {
    Box::pin(async move {
        pausing().await;
        if *id == 0 {
            return Err(AppError::Own);
        }
        Ok(*id)
    })
}

/// Ends like a method under `#[async_trait]`, but is not one.
#[distributed_lock(key = "lookalike", or_else = |_| ())]
fn lookalike(calls: &Cell<u8>) -> impl Future<Output = ()> + '_ {
    async move {
        calls.set(calls.get() + 1);
        let _: () = pausing().await;
    }
}

#[distributed_lock(key = "instrumented:<id>")]
fn instrumented(id: u8) -> impl Future<Output = Answer> {
    let next = id + 1;
    async move { paused(next).await }.instrument(tracing::info_span!("instrumented"))
}

#[distributed_lock(key = "no future", or_else = |_| NearFuture(0))]
fn near_future() -> NearFuture {
    inside();
    NearFuture(1)
}

/// Another trait, with `Future` above it.
trait Work: Future<Output = Answer> {}
impl<F: Future<Output = Answer>> Work for F {}

#[distributed_lock(key = "work:<id>")]
fn work(id: u8) -> impl Work {
    async move { paused(id).await }
}

#[derive(Clone)]
struct Inner(u8);

/// Like `tower`'s futures: a future that outlives the receiver.
struct Service {
    inner: Inner,
    shared: Rc<Cell<u8>>,
    count: u8,
}

impl Service {
    #[distributed_lock(key = "clones:<id>")]
    fn clones(&self, id: u8) -> Pin<Box<dyn Future<Output = Answer>>> {
        let inner = self.inner.clone();
        let shared: Rc<Cell<u8>> = Rc::clone(&self.shared);
        let mut count = self.count;
        // Under the lock, from here on.
        inside();
        shared.set(id);
        Box::pin(async move {
            pausing().await;
            count += inner.0 + shared.get();
            Ok(count)
        })
    }

    #[distributed_lock(key = "at the call")]
    fn at_the_call(&self) -> Pin<Box<dyn Future<Output = Answer>>> {
        let shared = self.shared.clone();
        let count = self.count;
        shared.set(1);
        Box::pin(async move { Ok(count + shared.get()) })
    }

    #[distributed_lock(key = "owned:<id>")]
    fn owned(&mut self, id: &str) -> BoxFuture<'static, Answer<String>> {
        let id = id.to_owned();
        Box::pin(async move { paused(id).await })
    }
}

#[tokio::test]
async fn copies_are_taken_at_the_call() {
    let mut service = Service {
        inner: Inner(1),
        shared: Rc::new(Cell::new(0)),
        count: 2,
    };
    assert_locks!("clones:3", service.clones(3).await, 6);
    assert_locks!("owned:x", service.owned("x").await, "x");
    // The call determines the values, and the body waits for the lock.
    let called = service.at_the_call();
    assert_ne!(service.shared.get(), 1);
    service.count = 100;
    assert_eq!(called.await.unwrap(), 3);
}

#[tokio::test]
async fn the_block_decides_whether_a_function_returns_a_future() {
    assert_locks!("alias:1", alias(1).await, 1);
    let id = locks("alias 'a:x", async || {
        borrowed_alias("x").await.map(str::to_owned)
    })
    .await;
    assert_eq!(id.unwrap(), "x");
    assert_locks!("alias of a result:1", alias_of_a_result(&1).await, 1);
    let calls = Cell::new(0);
    locks("lookalike", async || lookalike(&calls).await).await;
    assert_eq!(calls.get(), 3, "in all trials but the first");
    assert_locks!("instrumented:1", instrumented(1).await, 2);
    assert_locks!("work:1", work(1).await, 1);
    assert_eq!(
        locks(at_once("no future"), async || near_future()).await.0,
        1
    );
}

#[tokio::test]
async fn values_unused_by_a_block_are_not_in_its_future() {
    let mut shop = Shop(Cell::new(0));
    assert_locks!("static:1", shop.call(1).await, 1);
    assert_locks!("Send:1", shop.not_sync(1).await, 1);
    assert_locks!("use:1", shop.captures_nothing(1).await, 1);
    assert_locks!("ignored:1", ignored(&shop, 1).await, 1);
    assert_locks!("before:1", shop.before(1).await, 1);
    assert_eq!(shop.0.get(), 1);
}

#[tokio::test]
async fn the_block_is_locked() {
    assert_locks!("impl:1:1", opaque(1).await, 1);
    assert_locks!("impl 'a:x", borrowing("x").await, "x");
    assert_locks!("Pin<Box>:1", pinned(1).await, 1);
    assert_locks!("BoxFuture:x", boxed("x", 1).await, ("x", 2));
}
