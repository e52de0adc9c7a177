use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "a")]
#[distributed_lock(key = "b")]
async fn ship() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
