use lock_runtime::{LockError, distributed_lock};

const MODE: &str = "read";

#[distributed_lock(key = "report", mode = MODE)]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
