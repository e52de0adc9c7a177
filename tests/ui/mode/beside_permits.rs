use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", mode = "read", permits = 5)]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
