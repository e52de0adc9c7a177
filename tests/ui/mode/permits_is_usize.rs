use lock_runtime::{LockError, distributed_lock};

struct Supplier {
    orders: Vec<u64>,
}

impl Supplier {
    #[distributed_lock(key = "supplier", permits = self.orders.len())]
    fn order(&self) -> Result<(), LockError> {
        Ok(())
    }
}

fn main() {}
