use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", lock_at_least_for = "30s")]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
