use lock_runtime::{LockError, distributed_lock};

struct Path<T>(T);

#[distributed_lock(key = "order:<id>")]
async fn ship(id: Path<u64>) -> Result<u64, LockError> {
    Ok(id.0)
}

fn main() {}
