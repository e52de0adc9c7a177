use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", max_hold = "20s", hold_at_least = "30s")]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
