use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "a", crate = nowhere)]
async fn crate_is_elsewhere() -> Result<(), LockError> { Ok(()) }

fn main() {}
