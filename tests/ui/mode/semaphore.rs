use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", semaphore = 5)]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
