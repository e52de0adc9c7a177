use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "report", mode = "shared")]
async fn another_word() -> Result<(), LockError> { Ok(()) }

const MODE: &str = "read";

#[distributed_lock(key = "report", mode = MODE)]
async fn constant() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", mode = "read", permits = 5)]
async fn beside_permits() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", permits = -1)]
async fn permits_below_zero() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", permits = 4_294_967_296)]
async fn permits_beyond_u32() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", permits = "5")]
async fn permits_in_quotes() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", permits = "five")]
async fn permits_in_words() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", permits = 1)]
fn permits_of_one() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", permits = 5, take = 6)]
fn take_of_more_than_all() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", take = 2)]
async fn take_without_permits() -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "report", mode = "read", retain = "50ms")]
async fn retained_reader() -> Result<(), LockError> { Ok(()) }

fn main() {}
