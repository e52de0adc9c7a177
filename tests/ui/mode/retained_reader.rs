use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", mode = "read", retain = "50ms")]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
