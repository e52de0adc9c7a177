use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", permits = 5, ttl = "3s", retain = "2s")]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
