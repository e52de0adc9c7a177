use lock_runtime::{LockError, distributed_lock};

#[distributed_lock(key = "order:<id>")]
fn does_not_parse(id: u64) -> impl Future<Output = Result<u64, LockError>> {
    let next = ;
    async move { Ok(id) }
}

fn main() {}
