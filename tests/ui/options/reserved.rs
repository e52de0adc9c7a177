use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(keys = ["order:<id>"])]
async fn ship(id: u64) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
