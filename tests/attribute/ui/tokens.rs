use lock_runtime::{FencingToken, LockError, distributed_lock};

async fn write(_token: FencingToken) {}

#[distributed_lock(key = "order:<id>", token = token)]
async fn not_used(id: u64) -> Result<u64, LockError> { Ok(id) }

#[distributed_lock(key = "order:<id>", token = held, guard = held)]
async fn like_the_guard(id: u64) -> Result<(), LockError> {
    held.key();
    Ok(())
}

#[distributed_lock(key = "order:<id>", token = id)]
async fn like_an_argument(id: u64) -> Result<(), LockError> { Ok(drop(id)) }

#[distributed_lock(key = "order:<id>", token = "token")]
async fn in_quotes(id: u64) -> Result<(), LockError> { Ok(()) }

#[distributed_lock(key = "a", token = mut token)]
async fn mutable() -> Result<(), LockError> {
    write(token).await;
    Ok(())
}

#[distributed_lock(key = "a", fencing_token = token)]
async fn misnamed() -> Result<(), LockError> {
    write(token).await;
    Ok(())
}

#[distributed_lock(key = "a", ttl = 10, token = token)]
async fn beside_a_mistake() -> Result<(), LockError> {
    write(token).await;
    Ok(())
}

struct Store {
    lock: lock_runtime::LockGuard,
}

impl Store {
    #[distributed_lock(key = "a", guard = lock)]
    async fn not_awaited(&self) -> Result<u64, LockError> {
        write(lock.fencing_token()?).await;
        if self.lock.is_valid() {
            return Ok(lock.fencing_token().get());
        }
        Ok(lock.fencing_token().await?.get())
    }
}

#[distributed_lock(key = "a", guard = lock)]
fn not_blocking() -> Result<u64, LockError> {
    let token = lock.fencing_token().await?;
    let again = lock.fencing_token()?;
    Ok(lock.fencing_token_blocking()?.get())
}

fn main() {}
