use lock_runtime::distributed_lock;

#[distributed_lock(key = "order:<id>", or_else = |_| 0)]
async fn ship(id: u64) -> String {
    String::new()
}

fn main() {}
