use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", mode = "Write")]
fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
