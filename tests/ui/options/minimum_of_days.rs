use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", hold_at_least = "25h")]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
