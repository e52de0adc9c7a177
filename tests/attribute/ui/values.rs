use std::path::Path;

use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<price>")]
fn float(price: f64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>")]
async fn absent(id: Option<u64>) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<ids>")]
async fn list(ids: Vec<u64>) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<ids>")]
async fn slice(ids: &[u64]) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "file:<name>")]
async fn path(name: &Path) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<pair>")]
async fn tuple(pair: (u64, u64)) -> Result<(), LockError> { Ok(()) }

struct Order {
    id: u64,
}

#[distributed_lock(key = "order:<order>")]
async fn structure(order: &Order) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = id)]
async fn not_a_key(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<order.idd>")]
async fn unknown_field(order: Order) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id.nope()>")]
async fn unknown_method(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = ["account:<from>", "rate:<rate>"])]
async fn float_in_a_list(from: u64, rate: f64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = ["account:<from>", to])]
async fn not_a_key_in_a_list(from: u64, to: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(keys = from)]
async fn not_a_list(from: u64, to: u64) -> Result<(), LockError> { Ok(()) }

struct Supplier {
    orders: Vec<u64>,
    limit: u32,
    weight: String,
}

impl Supplier {
    #[distributed_lock(key = "supplier", permits = self.orders.len())]
    fn permits_is_usize(&self) -> Result<(), LockError> { Ok(()) }

    #[distributed_lock(key = "supplier", permits = self.limit, take = self.weight)]
    async fn take_is_text(&self) -> Result<(), LockError> { Ok(()) }
}

const SECS: u64 = 10;

#[distributed_lock(key = "a", ttl = SECS)]
async fn ttl_is_a_number() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "a", client = id)]
async fn client_is_no_client(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>", or_else = |_| 0)]
async fn or_else_of_a_wrong_type(id: u64) -> String { String::new() }

fn main() {}
