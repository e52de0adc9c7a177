use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<tenant><id>")]
async fn ship(tenant: u64, id: u64) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
