use lock_runtime::{LockError, distributed_lock};

struct MyErr;

#[distributed_lock(key = "order:<id>")]
async fn error_without_from(id: u64) -> Result<(), MyErr> { Ok(()) }

#[distributed_lock(key = "order:<id>")]
async fn generic_error<E>(id: u64) -> Result<(), E> { Ok(()) }

#[distributed_lock(key = "order:<id>")]
async fn never(id: u64) -> ! { loop {} }

#[distributed_lock(key = "order:<id>")]
fn opaque(id: u64) -> impl Iterator<Item = u64> { [id].into_iter() }

#[distributed_lock(key = "order:<id>")]
async fn unit(id: u64) {}

#[distributed_lock(key = "order:<id>", on_busy = "skip")]
async fn skip_without_a_word_for_it(id: u64) -> Result<u64, LockError> { Ok(id) }

fn main() {}
