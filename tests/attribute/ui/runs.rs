use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "a", runs = 0)]
async fn none() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "a", runs = 1_001)]
async fn too_many() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "a", runs = -1)]
async fn negative() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "a", runs = "20")]
async fn text() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "a", runs = 2.5)]
async fn fraction() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "a", runs)]
async fn no_value() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "a", history = 20)]
async fn another_name() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "{order}:<id>:h")]
async fn record_of_another_lock(id: u64) -> Result<(), LockError> { Ok(()) }

fn main() {}
