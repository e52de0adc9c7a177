use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "a")]
struct Order;

trait Shop {
    #[distributed_lock(key = "a")]
    async fn ship(&self) -> Result<(), LockError>;
}

#[distributed_lock(key = "a")]
const fn ship() {}

fn main() {}
