use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "a")]
async fn ship() -> std::pin::Pin<Box<dyn Future<Output = Result<(), LockError>>>> {
    Box::pin(async { Ok(()) })
}

fn main() {}
