use lock_runtime::distributed_lock;

#[distributed_lock(key = "order:<id>")]
async fn ship(id: u64) {}

fn main() {}
