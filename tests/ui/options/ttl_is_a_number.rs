use lock_runtime::{LockError, distributed_lock};

const SECS: u64 = 10;

#[distributed_lock(key = "a", ttl = SECS)]
async fn ship() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
