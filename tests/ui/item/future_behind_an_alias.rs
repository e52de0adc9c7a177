use lock_runtime::{LockError, distributed_lock};

type Shipping = std::pin::Pin<Box<dyn Future<Output = Result<(), LockError>>>>;

#[distributed_lock(key = "a")]
fn ship() -> Shipping {
    go()
}

fn go() -> Shipping {
    Box::pin(async { Ok(()) })
}

fn main() {}
