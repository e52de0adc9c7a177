use lock_runtime::{LockError, distributed_lock};

use std::pin::Pin;

#[distributed_lock(key = "order:<id>")]
fn ship(id: u64) -> Pin<Box<dyn Future<Output = Result<u64, LockError>>>> {
    if id == 0 {
        return Box::pin(async { Ok(0) });
    }
    Box::pin(async move { Ok(id) })
}

fn main() {}
