use lock_runtime::distributed_lock;

#[distributed_lock(key = "order:<id>")]
async fn ship<E>(id: u64) -> Result<(), E> {
    Ok(())
}

fn main() {}
