use lock_runtime::{LockError, distributed_lock};

type Shipping = std::pin::Pin<Box<dyn Future<Output = Result<(), LockError>>>>;

#[distributed_lock(key = "a", or_else = |error| Box::pin(async { Err(error) }))]
fn ship() -> Shipping {
    Box::pin(async { Ok(()) })
}

fn main() {}
