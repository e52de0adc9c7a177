use lock_runtime::{LockError, distributed_lock};

#[tokio::test]
#[distributed_lock(key = "a")]
async fn ship() {}

#[tokio::main]
#[distributed_lock(key = "a")]
async fn run() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
