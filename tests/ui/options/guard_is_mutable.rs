use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "a", guard = mut held)]
async fn ship() -> Result<(), LockError> {
    held.key();
    Ok(())
}

fn main() {}
