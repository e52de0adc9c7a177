use lock_runtime::{LockError, distributed_lock};

async fn other() -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(key = "a")]
fn ship() -> impl Future<Output = Result<(), LockError>> {
    other()
}

fn main() {}
