use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<id>")]
fn ship(id: u64) -> Result<impl Future<Output = u64>, LockError> {
    Ok(async move { id })
}

fn main() {}
