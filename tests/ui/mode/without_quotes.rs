use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", mode = read)]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
