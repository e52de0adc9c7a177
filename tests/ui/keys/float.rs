use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(keys = ["account:<from>", "rate:<rate>"])]
async fn transfer(from: u64, rate: f64) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
