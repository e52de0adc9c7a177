use lock_runtime::{LockKey, distributed_lock};

#[derive(LockKey)]
#[lock_key("price:<amount>")]
struct PriceKey {
    amount: f64,
}

struct PhantomData(u64);

#[derive(LockKey)]
#[lock_key("id:<0>")]
struct IdKey(u64, PhantomData);

#[derive(LockKey)]
#[lock_key("order:<order.idd>")]
struct OrderKey {
    order: Order,
}

struct Order {
    id: u64,
}

struct NoKey;

#[distributed_lock(key = NoKey)]
async fn ship() -> Result<(), lock_runtime::LockError> {
    Ok(())
}

fn main() {}
