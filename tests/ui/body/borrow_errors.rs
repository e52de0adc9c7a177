use lock_runtime::{LockError, distributed_lock};

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

fn main() {}
