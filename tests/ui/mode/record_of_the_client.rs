use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", record = Record::Redisson)]
async fn report() -> Result<(), LockError> {
    Ok(())
}

fn main() {}
