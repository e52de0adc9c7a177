use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", permits = 5.0)]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
