use lock_runtime::{LockError, distributed_lock};

struct Shop;

impl Shop {
    #[distributed_lock(key = "order:<id>", ttl = 10, guard = lock)]
    async fn ship(&self, id: u64) -> Result<String, LockError> {
        Ok(lock.key().to_owned())
    }
}

fn main() {}
