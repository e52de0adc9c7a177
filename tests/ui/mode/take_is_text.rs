use lock_runtime::{LockError, distributed_lock};

struct Supplier {
    limit: u32,
    weight: String,
}

impl Supplier {
    #[distributed_lock(key = "supplier", permits = self.limit, take = self.weight)]
    async fn order(&self) -> Result<(), LockError> {
        Ok(())
    }
}

fn main() {}
