use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<id>", ttl = 10)]
async fn ttl_without_a_unit(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>", ttl = "10 secs")]
async fn ttl_in_words(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>", ttl = 10s)]
async fn ttl_without_quotes(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>", ttl = "0s")]
async fn ttl_of_zero(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", max_hold = "20s", min_hold = "30s")]
async fn minimum_beyond_max_hold() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", mode = "read", min_hold = "30s")]
async fn minimum_of_a_reader() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", min_hold = "25h")]
async fn minimum_of_days() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "order:<id>", ttl = "3s", retain = "1s1ms")]
async fn retain_longer_than_a_third(id: u64) -> Result<(), LockError> { Ok(()) }

fn main() {}
