use lock_runtime::distributed_lock;

struct MyErr;

#[distributed_lock(key = "order:<id>")]
async fn ship(id: u64) -> Result<(), MyErr> {
    Ok(())
}

fn main() {}
