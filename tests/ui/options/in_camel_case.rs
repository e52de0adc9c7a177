use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "a", leaseTime = 10)]
async fn ship() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
