use lock_runtime::{LockError, distributed_lock};

async fn twice<F: Future>(body: F) -> F::Output {
    body.await
}

#[distributed_lock(key = "order:<id>")]
fn ship(id: u64) -> impl Future<Output = Result<u64, LockError>> {
    twice(async move { Ok(id) })
}

fn main() {}
