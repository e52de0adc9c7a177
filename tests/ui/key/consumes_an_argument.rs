use lock_runtime::{LockError, LockKey, distributed_lock};

#[distributed_lock(key = LockKey::from(name))]
async fn ship(name: String) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
