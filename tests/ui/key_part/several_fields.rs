use lock_runtime::{KeyPart, LockError, distributed_lock};

#[derive(KeyPart)]
struct Order {
    id: u64,
    region: String,
}

#[distributed_lock(key = "order:<order>")]
async fn ship(order: &Order) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
