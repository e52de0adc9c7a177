use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "a", crate = nowhere)]
async fn ship() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
