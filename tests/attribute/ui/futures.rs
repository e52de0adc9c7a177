use lock_runtime::{LockError, distributed_lock};
use std::pin::Pin;
use tracing::Instrument as _;

async fn twice<F: Future>(body: F) -> F::Output { body.await }

async fn other() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>")]
fn around_the_block(id: u64) -> impl Future<Output = Result<u64, LockError>> { twice(async move { Ok(id) }) }

#[distributed_lock(key = "a")]
fn future_without_a_block() -> impl Future<Output = Result<(), LockError>> { other() }

struct Shop {
    orders: Vec<u64>,
}

impl Shop {
    #[distributed_lock(key = "shop")]
    fn borrows_the_receiver(&self) -> Pin<Box<dyn Future<Output = Result<usize, LockError>> + Send>> {
        let count = self.orders.len();
        Box::pin(async move { Ok(count) })
    }
}

#[distributed_lock(key = "order:<id>")]
fn future_in_a_result(id: u64) -> Result<impl Future<Output = u64>, LockError> { Ok(async move { id }) }

#[distributed_lock(key = "a")]
async fn future_of_an_async_function() -> Pin<Box<dyn Future<Output = Result<(), LockError>>>> { Box::pin(async { Ok(()) }) }

#[distributed_lock(key = "order:<id>")]
fn returns_before_the_block(id: u64) -> Pin<Box<dyn Future<Output = Result<u64, LockError>>>> {
    if id == 0 {
        return Box::pin(async { Ok(0) });
    }
    Box::pin(async move { Ok(id) })
}

#[distributed_lock(key = "order:<id>")]
fn used_around_the_block(id: u64) -> impl Future<Output = Result<u64, LockError>> {
    let span = tracing::info_span!("ship", id);
    async move { Ok(id) }.instrument(span)
}

fn main() {}
