use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", take = 2)]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
