use lock_runtime::{LockClient, LockError, distributed_lock};

#[distributed_lock(key = "order:<id>", client = locks, guard = held)]
async fn key(locks: &LockClient, id: u64) -> Result<&str, LockError> {
    Ok(held.key())
}

#[distributed_lock(key = "order:<id>", client = locks, guard = held)]
fn key_blocking(locks: &LockClient, id: u64) -> Result<&str, LockError> {
    Ok(held.key())
}

fn main() {}
