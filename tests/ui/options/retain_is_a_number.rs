use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<id>", retain = 50)]
async fn ship(id: u64) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
