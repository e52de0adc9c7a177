use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(keys = accounts)]
async fn close(accounts: Vec<String>) -> Result<usize, LockError> {
    Ok(accounts.len())
}

fn main() {}
