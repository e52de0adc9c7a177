use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<type>")]
async fn ship(r#type: u64) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
