use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<price>")]
fn ship(price: f64) -> Result<(), LockError> {
    Ok(())
}

fn main() {}
