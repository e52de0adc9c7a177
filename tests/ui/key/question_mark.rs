use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<order.id()?>")]
async fn ship(order: &str) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
