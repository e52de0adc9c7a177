use std::pin::Pin;

use lock_runtime::{LockError, distributed_lock};

struct Shop {
    orders: Vec<u64>,
}

impl Shop {
    #[distributed_lock(key = "shop")]
    fn count(&self) -> Pin<Box<dyn Future<Output = Result<usize, LockError>> + Send>> {
        let count = self.orders.len();
        Box::pin(async move { Ok(count) })
    }
}

fn main() {}
