use lock_runtime::{FencingToken, LockError, distributed_lock};

async fn write(_token: FencingToken) {}

#[distributed_lock(key = "a", guard = lock)]
async fn future_as_a_token() -> Result<(), LockError> {
    write(lock.fencing_token()).await;
    Ok(())
}

#[distributed_lock(key = "a", guard = lock)]
async fn result_as_a_token() -> Result<(), LockError> {
    write(lock.fencing_token().await).await;
    Ok(())
}

#[distributed_lock(key = "a", token = token)]
async fn token_as_a_guard() -> Result<(), LockError> {
    token.renew().await
}

#[distributed_lock(key = "order:<id>", token = token)]
async fn token_as_a_number(id: u64) -> Result<u64, LockError> { Ok(token) }

/// Not `token`, but the argument of another function.
struct Own {
    lock: Lease,
}

struct Lease;

impl Lease {
    fn fencing_token(&self) -> Result<u64, LockError> { Ok(1) }
}

impl Own {
    #[distributed_lock(key = "a", guard = lock)]
    async fn method_of_another_type(&self) -> Result<u64, LockError> {
        lock.renew().await?;
        self.lock.fencing_token()
    }

    #[distributed_lock(key = "b", guard = lock)]
    async fn answer_of_another_type(&self) -> Result<u64, LockError> {
        lock.renew().await?;
        Ok(self.lock.fencing_token()? + 1)
    }
}

fn main() {}
