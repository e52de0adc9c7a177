use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", readers = true)]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
