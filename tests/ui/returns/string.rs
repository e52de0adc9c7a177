use lock_runtime::distributed_lock;

#[distributed_lock(key = "order:<id>")]
fn ship(id: u64) -> String {
    String::new()
}

fn main() {}
