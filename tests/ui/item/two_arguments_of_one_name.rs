use lock_runtime::{LockError, distributed_lock};

macro_rules! shipping {
    ($id:ident, $key:literal) => {
        #[distributed_lock(key = $key)]
        async fn ship(id: u64, $id: u64) -> Result<(), LockError> {
            Ok(())
        }
    };
}

shipping!(id, "order:<id>");

fn main() {}
