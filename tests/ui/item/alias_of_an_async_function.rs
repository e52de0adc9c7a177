use lock_runtime::{LockError, distributed_lock};

type Shipping = std::pin::Pin<Box<dyn Future<Output = Result<(), LockError>>>>;

#[distributed_lock(key = "a")]
async fn ship() -> Shipping {
    Box::pin(async { Ok(()) })
}

fn main() {}
