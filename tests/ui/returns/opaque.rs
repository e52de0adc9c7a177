use lock_runtime::distributed_lock;

#[distributed_lock(key = "order:<id>")]
fn ship(id: u64) -> impl Iterator<Item = u64> {
    [id].into_iter()
}

fn main() {}
