use lock_runtime::{LockClient, LockError, distributed_lock};

#[distributed_lock(key = "order:<id>", client = locks.)]
async fn client_is_unfinished(locks: &LockClient, id: u64) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(key = "order:<id>", ttl = std::time::Duration::, wait = "1s")]
fn ttl_is_unfinished(id: u64) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(keys = ["order:<id>", name.])]
fn element_is_unfinished(id: u64, name: &str) -> Result<(), LockError> {
    Ok(())
}

fn callers_still_compile(locks: &LockClient) {
    let _ = client_is_unfinished(locks, 1);
    let _ = ttl_is_unfinished(1);
    let _ = element_is_unfinished(1, "a");
}

fn main() {}
