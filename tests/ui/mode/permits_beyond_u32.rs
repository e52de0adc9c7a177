use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", permits = 4_294_967_296)]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
