use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<order.id().await>")]
async fn ship(order: &str) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
