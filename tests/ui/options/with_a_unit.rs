use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "a", ttl_ms = 10_000)]
async fn ship() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
