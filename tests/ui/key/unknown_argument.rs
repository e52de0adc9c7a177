use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<oid>")]
async fn ship(order_id: u64) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
