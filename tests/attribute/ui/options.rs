use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(ttl = "10s")]
async fn no_key(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>", tttl = "10s")]
async fn misspelt(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>", key = "order")]
async fn given_twice(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock("order:<id>")]
async fn without_a_name(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = order:<id>, ttl = "10s")]
async fn key_without_quotes(id: u64) -> Result<u64, LockError> { Ok(id) }

#[distributed_lock(key = "order:<id>" ttl = "10s")]
async fn without_a_comma(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>", guard = "lock")]
async fn guard_in_quotes(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "a", guard = mut held)]
async fn guard_is_mutable() -> Result<(), LockError> {
    held.key();
    Ok(())
}

#[distributed_lock(key = "order:<id>", guard = id)]
async fn guard_like_an_argument(id: u64) -> Result<(), LockError> { Ok(()) }

struct Shop;

impl Shop {
    #[distributed_lock(key = "order:<id>", ttl = 10, guard = lock)]
    async fn guard_beside_a_mistake(&self, id: u64) -> Result<String, LockError> { Ok(lock.key().to_owned()) }
}

#[distributed_lock(key = "order:<id>", or_else = Ok(0))]
async fn or_else_is_a_value(id: u64) -> Result<u64, String> { Ok(id) }

#[distributed_lock(key = "order:<id>", on_busy = "skp")]
async fn on_busy_misspelt(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>", on_lost = "abort")]
async fn on_lost_misspelt(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>", renew = "yes")]
async fn renew_in_words(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", record = LockRecord::Redisson)]
async fn record_of_the_client() -> Result<(), LockError> { Ok(()) }

fn main() {}
