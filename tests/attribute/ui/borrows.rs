use lock_runtime::{LockClient, LockError, LockKey, distributed_lock};

#[distributed_lock(key = "order:<id>")]
fn moved_twice(id: u64, name: String) -> Result<(), LockError> {
    drop(name);
    drop(name);
    Ok(())
}

#[distributed_lock(key = "order:<id>")]
async fn moved_twice_async(id: u64, name: String) -> Result<(), LockError> {
    drop(name);
    drop(name);
    Ok(())
}

#[distributed_lock(key = "order:<id>")]
fn not_mutable(id: u64, name: String) -> Result<(), LockError> {
    name.push('c');
    Ok(())
}

#[distributed_lock(key = "order:<id>")]
async fn not_mutable_async(id: u64, name: String) -> Result<(), LockError> {
    name.push('c');
    Ok(())
}

#[distributed_lock(key = "order:<id>")]
async fn borrowed_too_long(id: u64, names: Vec<u8>) -> Result<&'static [u8], LockError> {
    Ok(&names)
}

#[distributed_lock(key = "order:<id>", client = locks, guard = held)]
async fn borrowed_from_the_guard(locks: &LockClient, id: u64) -> Result<&str, LockError> {
    Ok(held.key())
}

#[distributed_lock(key = "order:<id>", client = locks, guard = held)]
fn borrowed_from_the_guard_blocking(locks: &LockClient, id: u64) -> Result<&str, LockError> {
    Ok(held.key())
}

#[distributed_lock(key = LockKey::from(name))]
async fn consumes_an_argument(name: String) -> Result<(), LockError> {
    Ok(())
}

#[distributed_lock(keys = accounts)]
async fn consumes_a_list(accounts: Vec<String>) -> Result<usize, LockError> {
    Ok(accounts.len())
}

#[distributed_lock(key = "a", or_else = |_| name)]
async fn or_else_uses_a_moved_argument(name: String) -> String {
    name
}

fn main() {}
