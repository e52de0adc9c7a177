use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<id>", ttl = "3s", retain = "1s1ms")]
async fn ship(id: u64) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
